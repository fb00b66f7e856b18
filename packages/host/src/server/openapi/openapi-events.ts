/** The events in the OpenAPI document: one schema for each event type, and their union as `RunEventDoc`. */
import { type EventType, eventPayloads, eventTypePattern, eventTypes, runEventDoc } from '@cairn/protocol';
import { type Components, type JsonSchema, refTo } from './openapi-schemas.ts';

const FIELDS = 'EventFields';
const KNOWN = 'KnownEventDoc';
const OTHER = 'UnknownEventDoc';

/** Replaces the open `RunEventDoc`. Call it last: the shapes of the routes define the open one. */
export async function addEventSchemas(components: Components, nextTurn: () => Promise<void>): Promise<void> {
  components.add(FIELDS, components.schemaOf(runEventDoc.omit({ type: true, payload: true })));
  for (const type of eventTypes) {
    components.add(schemaNameOf(type), eventSchema(type, components));
    await nextTurn();
  }
  components.add(KNOWN, {
    description: 'An event of a type that this host knows. `type` decides the payload.',
    oneOf: eventTypes.map((type) => refTo(schemaNameOf(type))),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(eventTypes.map((type) => [type, refTo(schemaNameOf(type)).$ref])),
    },
  });
  components.add(OTHER, {
    description: "An event of a vendor's type, or of a later version's.",
    ...typed(
      { type: 'string', pattern: eventTypePattern.source, not: { enum: eventTypes } },
      components.schemaOf(runEventDoc.shape.payload),
    ),
  });
  components.add('RunEventDoc', { oneOf: [refTo(KNOWN), refTo(OTHER)] });
}

const eventSchema = (type: EventType, components: Components): JsonSchema => ({
  title: type,
  ...typed({ type: 'string', const: type }, components.schemaOf(eventPayloads[type])),
});

const typed = (type: JsonSchema, payload: JsonSchema): JsonSchema => ({
  allOf: [refTo(FIELDS), { type: 'object', properties: { type, payload }, required: ['type', 'payload'] }],
});

/** `run.started` is `RunStartedEvent`. */
const schemaNameOf = (type: string): string =>
  `${type.replace(/(?:^|[._-])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;
