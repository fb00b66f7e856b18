/** The ids of the performers this host has beside the steps: what a row that asks for a call names, and never changes. */

/** Starts the run that a node asks for. */
export const CHILD_PERFORMER = 'cairn.child';

/** Asks a model for a turn. */
export const MODEL_PERFORMER = 'cairn.model';

/** Calls a tool. */
export const TOOL_PERFORMER = 'cairn.tool';

/** Reads and writes memory for a probe of the conformance suites. */
export const MEMORY_PROBE_PERFORMER = 'cairn.memory-probe';
