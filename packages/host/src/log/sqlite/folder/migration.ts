/** One step of the database schema. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}
