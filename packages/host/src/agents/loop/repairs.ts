/** How often a model may correct a result that violates its schema. Discovery advertises the rounds. */

/** How often a result is checked before its node fails. */
export const SCHEMA_ROUNDS = 2;

export const MAX_REPAIRS = SCHEMA_ROUNDS - 1;
