/** Runs of one agent alone: what a message starts. Their workflow has a name that follows from the id of the agent. */

const BEGINNING = 'agent-run-';
const MAX_LENGTH = 128;

export const isAgentRun = (workflowId: string): boolean => workflowId.startsWith(BEGINNING);

/** As the host names it. */
export const agentRunOf = (agentId: string): string =>
  `${BEGINNING}${agentId.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-')}`.slice(0, MAX_LENGTH);

/** What is left of the id of an agent that is not installed any more. */
export const restOfAgent = (workflowId: string): string => workflowId.slice(BEGINNING.length);
