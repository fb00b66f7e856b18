/** The type of data that a schema describes: what this version reads and writes, field by field. */
import type { z } from 'zod';
import type { Json, JsonObject } from './json.ts';

/**
 * What a schema lets through, as JSON data. Open schemas let other fields pass at run time; here they have none, so that a
 * misspelt field does not compile. An optional field is there or not, never undefined: the data is a `JsonObject`.
 */
export type DataOf<Schema extends z.ZodType> = Closed<z.infer<Schema>>;

type Closed<Value> = [Json] extends [Value]
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
