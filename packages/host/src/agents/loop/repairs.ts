/** How often a model may correct a result that violates its schema. Discovery advertises the rounds. */
import type { WorkflowNode } from '@cairn/protocol';

/** How often a result is checked before its node fails. */
export const SCHEMA_ROUNDS = 2;

export const MAX_REPAIRS = SCHEMA_ROUNDS - 1;

/** The corrections that a node allows. Its config is checked against the maximum at registration. */
export const repairsOf = ({ config }: WorkflowNode): number =>
  typeof config.retryOnInvalidJson === 'number' ? config.retryOnInvalidJson : MAX_REPAIRS;
