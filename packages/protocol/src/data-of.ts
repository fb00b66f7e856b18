/** Derives the TypeScript type of JSON data from its zod schema. */
import type { z } from 'zod';
import type { Json, JsonObject } from './json.ts';

/**
 * The data that a schema accepts. An open schema accepts unknown fields at run time; this type has none, so a misspelt field
 * does not compile. Optional fields are present or absent, never undefined, so the data is assignable to `JsonObject`.
 */
export type DataOf<Schema extends z.ZodType> = Closed<z.infer<Schema>>;

/** A type of JSON data without its unknown fields and undefined values. */
export type Closed<Value> = [Json] extends [Value]
  ? Value
  : Value extends string
    ? Value
    : Value extends readonly (infer Item)[]
      ? readonly Closed<Item>[]
      : Value extends object
        ? ClosedObject<Value>
        : Value;

type NamedKeys<Value> = keyof { [Key in keyof Value as string extends Key ? never : Key]: true };

type ClosedObject<Value extends object> = string extends keyof Value
  ? unknown extends Value[keyof Value & string]
    ? [NamedKeys<Value>] extends [never]
      ? JsonObject
      : Fields<Value>
    : { readonly [key: string]: Closed<Value[keyof Value & string]> }
  : Fields<Value>;

type Fields<Value> = {
  readonly [Key in keyof Value as string extends Key ? never : number extends Key ? never : Key]: Closed<
    Exclude<Value[Key], undefined>
  >;
};
