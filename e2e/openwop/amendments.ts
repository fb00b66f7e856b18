/** Corrections for published schemas that lag behind the protocol text. Applied before validation. */
import { fail } from 'node:assert/strict';
import { type Json, type JsonObject, runStatuses } from '@cairn/protocol';
import { fieldsOrNone } from '../../packages/host/test/kit/json-fields.ts';
import { present } from '../../packages/host/test/kit/present.ts';

export interface Amendment {
  /** The statement that overrides the schema: a row of the table of disagreements, or a section. */
  readonly source: string;
  /** File name of the schema. */
  readonly schema: string;
  /** Path of the changed value inside the schema. */
  readonly at: readonly string[];
  /** The expected current value. An amendment to a schema that has since changed is an error. */
  readonly was: Json | undefined;
  readonly now: Json;
  readonly why: string;
}

const text: JsonObject = { type: 'string', minLength: 1 };
const identity = (name: string, schema: JsonObject): Amendment => ({
  source: 'section 4.4',
  schema: 'suspend-request.schema.json',
  at: ['properties', name],
  was: undefined,
  now: schema,
  why: 'interrupt.requested is the InterruptPayload plus the identity the engine assigns; the closed schema names none of it',
});

const texts: JsonObject = { type: 'array', items: text, minItems: 1 };
const newer = (block: 'mcp' | 'a2a', name: string, schema: JsonObject): Amendment => ({
  source: 'row 27',
  schema: 'capabilities.schema.json',
  at: ['properties', block, 'properties', name],
  was: undefined,
  now: schema,
  why: 'the text has versions, profiles and addresses, which the older schema, being closed, refuses',
});

export const amendments: readonly Amendment[] = [
  {
    source: 'row 14',
    schema: 'run-event-payloads.schema.json',
    at: ['$defs', 'approvalRequested', 'properties', 'actions', 'items', 'enum'],
    was: ['accept', 'reject', 'refine', 'edit', 'ask'],
    now: ['accept', 'reject', 'refine', 'edit', 'edit-accept', 'ask'],
    why: 'the request lists edit-accept; only this legacy event calls it edit',
  },
  {
    source: 'row 29',
    schema: 'channel-written-payload.schema.json',
    at: ['properties', 'reducer', 'pattern'],
    was: '^(replace|append|merge|counter|votes|feedback|vendor\\.[a-z][a-z0-9_-]*\\.[a-z][a-z0-9_-]*)$',
    now: '^(replace|append|merge|counter|votes|feedback|message|vendor\\.[a-z][a-z0-9_-]*\\.[a-z][a-z0-9_-]*)$',
    why: 'a channel may declare the message reducer; the event that records its writes forgot it',
  },
  {
    source: 'row 24',
    schema: 'debug-bundle.schema.json',
    at: ['properties', 'run', 'properties', 'status', 'enum'],
    was: ['pending', 'running', 'completed', 'failed', 'cancelled', 'waiting-approval', 'waiting-clarification'],
    now: [...runStatuses],
    why: 'the run of a bundle is its snapshot, whose statuses this list does not have',
  },
  ...['protocolVersions', 'profiles', 'features', 'serverUrls'].map((name) => newer('mcp', name, texts)),
  newer('mcp', 'preferredVersion', text),
  ...['protocolVersions', 'profiles'].map((name) => newer('a2a', name, texts)),
  newer('a2a', 'preferredVersion', text),
  identity('runId', text),
  identity('nodeId', text),
  identity('interruptId', text),
  identity('requestedAt', { type: 'string', format: 'date-time' }),
  identity('agentId', text),
];

/** Returns copies of the schemas with every amendment applied. Throws when an amendment does not match. */
export function amended(schemas: ReadonlyMap<string, JsonObject>): Map<string, JsonObject> {
  const copies = new Map([...schemas].map(([name, schema]) => [name, structuredClone(schema)]));
  for (const amendment of amendments) apply(amendment, copies);
  return copies;
}

function apply({ schema, at, was, now, source }: Amendment, schemas: ReadonlyMap<string, JsonObject>): void {
  let place: Json | undefined = schemas.get(schema);
  for (const step of at.slice(0, -1)) place = fieldsOrNone(place)[step];
  const name = present(at.at(-1));
  const holder = place as Record<string, Json> | undefined;
  if (holder === undefined || JSON.stringify(holder[name]) !== JSON.stringify(was)) {
    fail(`The amendment of ${source} to ${schema} at ${at.join('/')} does not fit: ${JSON.stringify(holder?.[name])}`);
  }
  holder[name] = now;
}
