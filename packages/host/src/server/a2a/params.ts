/** Parameters that several methods of A2A take, and what a wrong one gets. */
import { type Json, MAX_ID_LENGTH } from '@cairn/protocol';
import { z } from 'zod';
import { RpcError } from './rpc.ts';

export const idParam = z.string().min(1).max(MAX_ID_LENGTH);

/** In the JSON of protocol buffers, null says that a field is absent. */
export const absentOr = <Shape extends z.ZodType>(shape: Shape) =>
  shape.nullish().transform((value) => value ?? undefined);

/** Protocol buffers write an absent text as an empty one. */
export const optionalTextParam = (shape: z.ZodString) => absentOr(shape).transform((text) => text || undefined);

export const optionalIdParam = optionalTextParam(z.string().max(MAX_ID_LENGTH));

/** Says which parameter is wrong, and how. */
export function parsed<Shape extends z.ZodType>(shape: Shape, params: Json): z.infer<Shape> {
  const result = shape.safeParse(params);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new RpcError('params', `${path === '' ? 'params' : path}: ${issue?.message ?? 'invalid'}.`);
}
