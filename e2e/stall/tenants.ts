/** The two tenants of the host under attack, and the step and agents that its owner gave it. */
export const ATTACKER_KEY = 'attacker-Xk29fLq0vNw7ZrB4tYc8';
export const VICTIM_KEY = 'victim-Qm31hTz8pUe6DsJ5wKa2';
export const BLOB = 'stall.blob';
/** Says 20,000 pieces of text. */
export const TALKER = 'host:talker';
/** Writes a file of a gigabyte. */
export const WRITER = 'host:writer';
