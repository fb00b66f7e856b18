/** Holds our definitions against the published JSON Schemas, in both directions, where those lie next to the repository. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { withOpenwop } from '../../../e2e/openwop/with-openwop.ts';
import { agentInventory } from './agents/agent-inventory.ts';
import { agentManifest, agentRefOf } from './agents/agent-manifest.ts';
import { agentRef } from './agents/agent-ref.ts';
import { packManifest } from './agents/pack-manifest.ts';
import { toolDescriptor } from './agents/tools.ts';
import { errorEnvelope, toEnvelope } from './error-envelope.ts';
import { TerminalError } from './errors.ts';
import { type EventType, eventPayloads, eventTypes } from './events/catalogue.ts';
import { runEventDoc } from './events/run-event-doc.ts';
import { discovery } from './host/discovery.ts';
import { hostSurfaces } from './host/host-surfaces.ts';
import type { ContextId } from './ids.ts';
import { interruptData, interruptPayload } from './interrupts/interrupts.ts';
import { payloadSchema, shapeSchema } from './json-schemas.ts';
import { runDiff } from './runs/run-diff.ts';
import { runOptions } from './runs/run-options.ts';
import { runSnapshotSchema } from './runs/run-snapshot.ts';
import { workflowDefinition } from './runs/workflow-definition.ts';
import { type SampledSchema, sample } from './schema-sample.kit.ts';
import { eventDoc } from './views/event-doc.ts';
import { legalHistory, someRun } from './views/legal-history.kit.ts';
import { foldRun } from './views/run.ts';
import { newRunView } from './views/run-view.ts';
import { runSnapshot } from './views/snapshot.ts';

const folder = join(import.meta.dirname, '../../../../shared/openwop');
const site = 'https://openwop.dev/spec/v1/';

interface Published extends SampledSchema {
  readonly $id: string;
  readonly $defs?: Readonly<Record<string, SampledSchema>>;
}

const read = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), 'utf8'));

/** The types whose payload this version leaves open on purpose. */
const onlyNamed = /^(eval|deployment|roster|trigger|connector)\./;

const suite = () => {
  const schemas = readdirSync(join(folder, 'schemas')).filter((name) => name.endsWith('.schema.json'));
  const published = new Map(schemas.map((name) => [name, read(`schemas/${name}`) as Published]));
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  for (const schema of published.values()) ajv.addSchema(schema);

  const named = (name: string): Published => published.get(`${name}.schema.json`) as Published;
  const payloads = named('run-event-payloads').$defs as Readonly<Record<string, SampledSchema>>;
  const typeIndex = payloads._typeIndex?.properties as Readonly<Record<string, { readonly $ref: string }>>;

  const problems = (schemaId: string, value: unknown): unknown => {
    const validate = ajv.getSchema(schemaId);
    if (validate === undefined) throw new Error(`No schema ${schemaId}`);
    return validate(value) ? [] : validate.errors;
  };
  /** Follows references from one published schema, into itself or into others. */
  const from =
    (base: Published) =>
    (ref: string): SampledSchema => {
      const [file = '', pointer] = ref.replace(site, '').replace('./', '').split('#/$defs/');
      const schema = file === '' ? base : named(file.replace('.schema.json', ''));
      return pointer === undefined ? schema : (schema.$defs?.[pointer] as SampledSchema);
    };
  const theirs = (schema: SampledSchema, base: Published, size: 'least' | 'most'): unknown =>
    sample(schema, { size, resolve: from(base) });
  const ours = (type: EventType, size: 'least' | 'most'): unknown => {
    const schema = payloadSchema(type) as SampledSchema & { readonly $defs?: Record<string, SampledSchema> };
    const resolve = (ref: string) => schema.$defs?.[ref.replace('#/$defs/', '')] as SampledSchema;
    return sample(schema, { size, resolve });
  };

  const payloadId = (type: string) => `${named('run-event-payloads').$id}#/$defs/_typeIndex/properties/${type}`;
  const known = eventTypes.filter((type) => !type.startsWith('cairn.'));
  // `interrupt.requested` is compared by kind below: its published schema leaves out the place of the interrupt.
  const readable = known.filter((type) => type !== 'interrupt.requested');
  const defined = readable.filter((type) => !onlyNamed.test(type));

  test('every published type in scope is known, and no other outside our own prefix', () => {
    const outOfScope = /^(proposal|goal|import|voice)\./;
    expect([...known].sort()).toEqual(
      Object.keys(typeIndex)
        .filter((type) => !outOfScope.test(type))
        .sort(),
    );
  });

  describe.each(readable)('the payload of %s', (type) => {
    test.each(['least', 'most'] as const)('as we write it, with the %s fields, is valid there', (size) => {
      const value = ours(type, size);
      expect(eventPayloads[type].safeParse(value).error).toBeUndefined();
      if (!onlyNamed.test(type)) expect(problems(payloadId(type), value)).toEqual([]);
    });
    test.each(['least', 'most'] as const)('as published, with the %s fields, is one we can read', (size) => {
      const value = theirs(typeIndex[type] as SampledSchema, named('run-event-payloads'), size);
      expect(problems(payloadId(type), value)).toEqual([]);
      expect(eventPayloads[type].safeParse(value).error).toBeUndefined();
    });
  });

  test.each(['least', 'most'] as const)('a diff as we write it, with the %s fields, is valid there', (size) => {
    const schema = shapeSchema('RunDiff') as SampledSchema & { readonly $defs?: Record<string, SampledSchema> };
    const resolve = (ref: string) => schema.$defs?.[ref.replace('#/$defs/', '')] as SampledSchema;
    const value = sample(schema, { size, resolve });
    expect(runDiff.safeParse(value).error).toBeUndefined();
    expect(problems(named('run-diff-response').$id, value)).toEqual([]);
  });

  test.each(defined)('the payload of %s is open to further fields exactly where the published one is', (type) => {
    const value = { ...(ours(type, 'least') as object), furtherField: 1 };
    const isOpen = eventPayloads[type].safeParse(value).success;
    expect(isOpen).toBe((problems(payloadId(type), value) as unknown[]).length === 0);
  });

  const dataNames = {
    approval: 'ApprovalData',
    clarification: 'ClarificationData',
    'external-event': 'ExternalEventData',
    custom: 'CustomData',
    'conversation.start': 'ConversationStartData',
    'conversation.exchange': 'ConversationExchangeData',
    'conversation.close': 'ConversationCloseData',
    'low-confidence': 'LowConfidenceData',
  } as const;
  test.each(Object.entries(dataNames))(
    'a %s interrupt and its data mean the same on both sides',
    (kind, definition) => {
      const data = theirs(
        named('suspend-request').$defs?.[definition] as SampledSchema,
        named('suspend-request'),
        'most',
      );
      const asked = { kind, key: 'k', data, timeoutMs: 5, resumeSchema: {} };
      expect(interruptPayload.safeParse(asked).error).toBeUndefined();
      expect(interruptData[kind as keyof typeof interruptData].safeParse(data).success).toBe(true);
      expect(problems(named('suspend-request').$id, asked)).toEqual([]);
      // The event adds its place to the closed payload, as the prose says and the schema forgot.
      const event = { ...asked, runId: 'r', nodeId: 'n', interruptId: 'i', requestedAt: '2026-01-02T03:04:05.006Z' };
      expect(eventPayloads['interrupt.requested'].safeParse(event).success).toBe(true);
    },
  );

  const shapes: [string, z.ZodType][] = [
    ['agent-ref', agentRef],
    ['run-options', runOptions],
    ['run-snapshot', runSnapshotSchema],
    ['error-envelope', errorEnvelope],
    ['run-event', runEventDoc],
  ];
  test.each(shapes)('a published %s is one we can read', (name, shape) => {
    for (const size of ['least', 'most'] as const) {
      const value = theirs(named(name), named(name), size);
      expect(problems(named(name).$id, value)).toEqual([]);
      expect(shape.safeParse(value).error).toBeUndefined();
    }
  });

  const pack = {
    name: 'vendor.acme.desk',
    version: '1.2.0',
    engines: { openwop: '>=1.0 <2.0.0' },
    runtime: { language: 'remote', entry: 'none', minRuntimeVersion: 'node>=24', requires: ['clock'] },
    description: 'A desk.',
    author: 'Acme',
    license: 'Apache-2.0',
    homepage: 'https://acme.example',
    repository: 'https://acme.example/desk.git',
    keywords: ['desk'],
    dependencies: { 'vendor.acme.base': '^1.0.0' },
    signing: { method: 'manual', publicKeyRef: 'keys/acme.pem', signatureRef: 'pack.json.sig' },
    nodes: [{ typeId: 'vendor.acme.sort', version: '1.0.0', category: 'data', role: 'pure' }],
    peerDependencies: { webhooks: 'supported' },
    peerDependenciesMeta: { webhooks: { optional: true } },
    agents: [
      {
        agentId: 'vendor.acme.desk.triage',
        persona: 'Triage',
        modelClass: 'general' as const,
        systemPromptRef: 'prompts/triage.md',
        handoff: { taskSchemaRef: 'schemas/task.json', returnSchemaRef: 'schemas/return.json' },
        label: 'Triage',
        description: 'Sorts what comes in.',
        toolAllowlist: ['openwop:time', 'mcp:search'],
        requiresCapabilities: ['memory'],
        memoryShape: { scratchpad: true, conversation: true, longTerm: false },
        confidence: { defaultThreshold: 0.6 },
        evalSuiteRef: 'evals/triage.json',
        promptLibraryRef: 'acme-prompts',
        promptOverrides: { user: 'prompt:acme.triage-user@1.0.0', system: { templateId: 'triage', version: '1.0.0' } },
      },
    ],
  };

  test('a pack and its agents mean the same on both sides, and so does who acts for them', () => {
    expect(problems(named('node-pack-manifest').$id, pack)).toEqual([]);
    const parsed = packManifest.parse(pack);
    const agent = parsed.agents?.[0];
    if (agent === undefined) throw new Error('The agent is gone.');
    expect(problems(named('agent-manifest').$id, agent)).toEqual([]);
    const ref = agentRefOf(agent, parsed.version);
    expect(ref).toMatchObject({ agentId: agent.agentId, name: 'Triage', modelClass: 'chat', version: '1.2.0' });
    expect(problems(named('agent-ref').$id, agentRef.parse(ref))).toEqual([]);
  });

  const wrongAgents = {
    'a host id': { agentId: 'host:desk' },
    'one segment': { agentId: 'core.chat' },
    'another tier': { agentId: 'acme.desk.triage' },
    'a model class of AgentRefs': { modelClass: 'chat' },
    'no prompt': { systemPromptRef: undefined },
    'two prompts': { systemPrompt: 'Sort.' },
    'a field that is not there': { tools: [] },
    'a prompt that is no reference': { promptOverrides: { user: 'Be kind.' } },
    'a threshold above one': { confidence: { defaultThreshold: 2 } },
    'a capability named twice': { requiresCapabilities: ['a', 'a'] },
  };
  test.each(Object.entries(wrongAgents))('an agent with %s is refused on both sides', (_, fields) => {
    const agent = JSON.parse(JSON.stringify({ ...pack.agents[0], ...fields }));
    expect(agentManifest.safeParse(agent).success).toBe(false);
    expect(problems(named('agent-manifest').$id, agent)).not.toEqual([]);
  });

  const wrongPacks = {
    'neither agents nor nodes': { agents: [], nodes: [] },
    'another kind': { kind: 'prompt' },
    'a version that is none': { version: '1.2' },
    'a name without a tier': { name: 'acme.desk' },
    'no range for the protocol': { engines: {} },
    'a language nobody knows': { runtime: { language: 'cobol', entry: 'x' } },
    'a field that is not there': { scripts: {} },
  };
  test.each(Object.entries(wrongPacks))('a pack with %s is refused on both sides', (_, fields) => {
    expect(packManifest.safeParse({ ...pack, ...fields }).success).toBe(false);
    expect(problems(named('node-pack-manifest').$id, { ...pack, ...fields })).not.toEqual([]);
  });

  test('a published inventory is one we can read, but for rosters, which are no part of ours', () => {
    for (const size of ['least', 'most'] as const) {
      const published = theirs(named('agent-inventory-response'), named('agent-inventory-response'), size);
      const { agents, total } = published as { agents: Record<string, unknown>[]; total: number };
      const ours = { total, agents: agents.map(({ roster: _, ...entry }) => entry) };
      expect(agentInventory.safeParse(ours).error).toBeUndefined();
      expect(problems(named('agent-inventory-response').$id, ours)).toEqual([]);
    }
  });

  test('a published description of a tool is one we can read, and ours is one they can', () => {
    for (const size of ['least', 'most'] as const) {
      const published = theirs(named('tool-descriptor'), named('tool-descriptor'), size) as object;
      const ours = { ...published, toolId: 'acme:look', source: 'host-extension' };
      expect(toolDescriptor.safeParse(ours).error).toBeUndefined();
      expect(problems(named('tool-descriptor').$id, ours)).toEqual([]);
    }
    for (const wrong of [{ source: 'odd' }, { source: 'mcp', safetyTier: 'exec' }, { secret: 'x' }, { toolId: '' }]) {
      const descriptor = { toolId: 'acme:look', source: 'host-extension', safetyTier: 'read', ...wrong };
      expect(toolDescriptor.safeParse(descriptor).success).toBe(false);
      expect(problems(named('tool-descriptor').$id, descriptor)).not.toEqual([]);
    }
  });

  test('every family of the published discovery document may be named as a surface of the host', () => {
    const facts = /(Version|Versions|Envelopes)$|^(implementation)$/;
    const families = Object.keys(named('capabilities').properties ?? {}).filter((name) => !facts.test(name));
    expect(families.filter((name) => !hostSurfaces.includes(name))).toEqual([]);
  });

  test('every snapshot and every event of a random history is valid', () => {
    const place = { runId: someRun, contextId: 'ctx_c' as ContextId, cursor: 1, audience: 'client' as const };
    fc.assert(
      fc.property(legalHistory, (events) => {
        const view = newRunView(someRun);
        for (const event of events) {
          foldRun(view, event);
          expect(problems(named('run-event').$id, eventDoc({ ...event, ...place, cause: 0 }))).toEqual([]);
          expect(problems(named('run-snapshot').$id, runSnapshot(view))).toEqual([]);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('an error envelope of ours is valid', () => {
    const error = new TerminalError('not_found', {
      message: 'No run.',
      hint: 'Check the id.',
      details: { runId: 'r' },
    });
    expect(problems(named('error-envelope').$id, toEnvelope(error))).toEqual([]);
  });

  test('a discovery document with every field we define is valid', () => {
    const document = {
      protocolVersion: '1.0',
      supportedEnvelopes: [],
      schemaVersions: { 'clarification.request': 1 },
      limits: {
        clarificationRounds: 3,
        schemaRounds: 2,
        envelopesPerTurn: 5,
        maxNodeExecutions: 500,
        maxRunDurationMs: 1000,
      },
      implementation: { name: 'cairn', version: '0.1.0', vendor: 'cairn' },
      supportedTransports: ['rest'],
      configurable: { recursionLimit: { type: 'number', min: 1 } },
      fixtures: ['conformance-noop'],
      idempotency: { supported: true, layer1RetentionSeconds: 86_400, crossRegion: 'single-region' },
    };
    expect(discovery.safeParse(document).error).toBeUndefined();
    expect(problems(named('capabilities').$id, document)).toEqual([]);
  });

  const fixtures = readdirSync(join(folder, 'fixtures')).filter((name) => name.endsWith('.json'));
  test.each(fixtures)('the fixture %s is a workflow definition to us as it is to them', (name) => {
    const fixture = read(`fixtures/${name}`);
    expect(workflowDefinition.safeParse(fixture).error).toBeUndefined();
    expect(problems(named('workflow-definition').$id, fixture)).toEqual([]);
  });
};

withOpenwop('the published schemas', suite);
