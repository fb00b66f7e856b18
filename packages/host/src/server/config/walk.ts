/** Walks the configuration shape: its keys, their text format, and the valid names at a path. */
import { z } from 'zod';
import { configShape } from './shape.ts';

/** The text format of a setting, for sources that only have text. */
export type Written = 'text' | 'number' | 'switch' | 'list' | 'paths' | 'json';

/** A configuration key: a section, which contains fixed keys, or a setting, which has a value. */
export interface ConfigKey {
  readonly path: readonly string[];
  readonly schema: z.ZodType;
  readonly isSection: boolean;
  readonly written: Written;
  /** True for a file or folder, or a list of them. */
  readonly isPath: boolean;
}

type Shape = Readonly<Record<string, z.ZodType>>;

/** Unwraps defaults and optionals. Of a union with a shorthand, returns the object form. */
export function bare(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return bare(schema.unwrap() as z.ZodType);
  }
  if (!(schema instanceof z.ZodUnion)) return schema;
  return (schema.options as readonly z.ZodType[]).find((option) => option instanceof z.ZodObject) ?? schema;
}

/** The keys of a fixed object; null for any other value. A master key is one value with two forms, not a section. */
function sectionShape(schema: z.ZodType, path: readonly string[]): Shape | null {
  const inner = bare(schema);
  return inner instanceof z.ZodObject && path[0] !== 'masterKey' ? inner.shape : null;
}

/** Every section and setting in shape order; a section precedes its contents. */
export function configKeys(): readonly ConfigKey[] {
  const found: ConfigKey[] = [];
  const visit = (shape: Shape, above: readonly string[]) => {
    for (const [key, schema] of Object.entries(shape)) {
      const path = [...above, key];
      const inner = sectionShape(schema, path);
      found.push({ path, schema, isSection: inner !== null, ...writing(schema) });
      if (inner !== null) visit(inner, path);
    }
  };
  const { $schema: _, ...shape } = configShape.shape;
  visit(shape, []);
  return found;
}

/** The valid names at a path of the configuration. */
export function namesAt(path: readonly PropertyKey[]): readonly string[] {
  let schema: z.ZodType | undefined = configShape;
  for (const part of path) {
    const inner: z.ZodType = bare(schema);
    if (inner instanceof z.ZodObject) schema = inner.shape[String(part)] as z.ZodType | undefined;
    else if (inner instanceof z.ZodRecord) schema = inner.valueType as z.ZodType;
    else if (inner instanceof z.ZodArray) schema = inner.element as z.ZodType;
    else return [];
    if (schema === undefined) return [];
  }
  const inner = bare(schema);
  if (inner instanceof z.ZodRecord && inner.keyType instanceof z.ZodEnum) return inner.keyType.options.map(String);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function writing(schema: z.ZodType): Pick<ConfigKey, 'written' | 'isPath'> {
  const inner = bare(schema);
  const isPath = inner.meta()?.format === 'path';
  if (inner instanceof z.ZodString || inner instanceof z.ZodEnum) return { written: 'text', isPath };
  if (inner instanceof z.ZodNumber) return { written: 'number', isPath };
  if (inner instanceof z.ZodBoolean) return { written: 'switch', isPath };
  if (inner instanceof z.ZodArray) {
    const element = writing(inner.element as z.ZodType);
    if (element.written === 'text') return { written: element.isPath ? 'paths' : 'list', isPath: element.isPath };
  }
  return { written: 'json', isPath };
}
