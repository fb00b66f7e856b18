/** The two tenants of the host under attack, and the step and agents that its owner gave it. */
export const ATTACKER_KEY = 'attacker-Xk29fLq0vNw7ZrB4tYc8';
export const VICTIM_KEY = 'victim-Qm31hTz8pUe6DsJ5wKa2';
export const BLOB = 'stall.blob';
/** Says 20,000 pieces of text. */
export const TALKER = 'host:talker';
/** Calls a tool of the client named `never`. */
export const ASKER = 'host:asker';
/** Writes a file of a gigabyte. */
export const WRITER = 'host:writer';
/** Where the hostile peers of the host are, for the process of the host. */
export const PEERS_ENV = 'STALL_PEERS';
/** Hostile peers: what each does to whoever calls it. */
export const hostileKinds = [
  'slow',
  'endless',
  'huge',
  'liar',
  'away',
  'garbage',
  'cut',
  'deep',
  'wide',
  'early',
  'heads',
  'hollow',
  'lines',
] as const;
/** Calls the tool of the MCP server of a kind. Most have a DID whose document is on a hostile host of the same kind. */
export const callerOf = (kind: string): string => `host:calls-${kind}`;
/** All agents are pinned by every run of one, so that each would wait for the slow document now and then. */
export const hasDid = (kind: string): boolean => kind !== 'slow';
/** Answers at once. */
export const QUICK = 'host:quick';
/** A template with a slot for a text. */
export const SAMPLE = 'sample';
/** The only tool of each, as an MCP server. */
export const HOSTILE_TOOL = 'work';
