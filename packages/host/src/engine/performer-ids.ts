/** The ids of the built-in performers, besides steps. Rows that request a call record them, so they never change. */

/** Starts the child run that a node requests. */
export const CHILD_PERFORMER = 'cairn.child';

/** Requests a turn from a model. */
export const MODEL_PERFORMER = 'cairn.model';

/** Calls a tool. */
export const TOOL_PERFORMER = 'cairn.tool';

/** Puts a question to the agent of a run above. */
export const COORDINATOR_PERFORMER = 'cairn.coordinator';

/** Reads and writes memory for a probe of the conformance suites. */
export const MEMORY_PROBE_PERFORMER = 'cairn.memory-probe';
