import type { JsonObject } from '@cairn/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { scriptNodeTypes } from '../../../test/kit/run-script.ts';
import { configSchema, parseConfig } from '../workflow/node-config.ts';
import type { NodeType } from '../workflow/node-type.ts';
import { dispatch } from './dispatch.ts';
import { createNodeTypeRegistry, describeNodeTypes } from './node-types.ts';

const nodeTypes = createNodeTypeRegistry([], [dispatch]);
const typeOf = (typeId: string): NodeType => {
  const type = nodeTypes.get(typeId);
  if (type === undefined) throw new Error(`there is no ${typeId}`);
  return type;
};
const takes = (typeId: string, config: JsonObject) => ({
  parser: 'config' in parseConfig(typeOf(typeId), config),
  schema: new Ajv2020({ strict: false }).compile(configSchema(typeOf(typeId)))(config),
});

const mapping = { child: 'parent' };
const approval = { artifactId: 'a', artifactType: 'doc', title: 'Sign', actions: ['accept'] };

describe('the JSON Schema of a config and its parser agree', () => {
  test.each<[string, JsonObject]>([
    ['core.noop', { nondeterministic: true }],
    ['core.fail', { code: 'broken', message: 'It is.', retryable: true }],
    ['core.delay', { delayMs: 0.5 }],
    ['core.conditional', { condition: { type: 'equals', left: 'n', right: { a: 1 } } }],
    ['core.loop', { items: [1, null, { a: 1 }] }],
    ['core.loop', { times: 1e300 }],
    ['core.setVariable', { name: 'v', value: null }],
    [
      'core.channelWrite',
      { channelName: 'c', reducer: 'vendor.acme.sum', value: 1, ttlMs: 5, agentSharing: 'shared:a' },
    ],
    ['core.approvalGate', { title: null, actions: ['edit'], audience: { roles: ['boss'] }, timeoutMs: 1 }],
    ['core.clarificationGate', { questions: [{ id: 'q', question: '?', schema: { type: 'string' } }] }],
    ['core.interrupt', { kind: 'approval', data: { ...approval, more: 1 }, resumeSchema: {} }],
    ['core.interrupt', { kind: 'external-event', data: { eventType: 'paid', correlation: {} } }],
    ['core.conversationGate', { prompt: 'Hello', participants: [{ agentId: 'a', role: 'host' }] }],
    ['core.subWorkflow', { workflowId: 'kid', inputMapping: mapping, onChildFailure: 'absorb' }],
    ['core.dispatch', { fanOutPolicy: 'parallel', joinPolicy: 'any', perWorkerInputMappings: { kid: mapping } }],
  ])('%s takes %j', (typeId, config) => {
    expect(takes(typeId, config)).toEqual({ parser: true, schema: true });
  });

  test.each<[string, JsonObject, string]>([
    ['core.fail', { code: 1 }, 'code'],
    ['core.delay', { delayMs: -1 }, 'delayMs'],
    ['core.loop', { times: 1.5 }, 'times'],
    ['core.setVariable', { name: '' }, 'name'],
    ['core.channelWrite', { channelName: 'c', reducer: 'sum' }, 'reducer'],
    ['core.approvalGate', { actions: ['dance'] }, 'actions[0]'],
    ['core.approvalGate', { audience: { friends: [] } }, 'audience.friends'],
    ['core.clarificationGate', { questions: [] }, 'questions'],
    ['core.interrupt', { kind: 'low-confidence', data: {} }, 'kind'],
    ['core.interrupt', { kind: 'external-event', data: { eventType: 'paid' } }, 'data.correlation'],
    ['core.conversationGate', { participants: [{}] }, 'participants[0].agentId'],
    ['core.subWorkflow', { workflowId: 'kid', colour: 'red' }, 'colour'],
    ['core.dispatch', { perWorkerInputMappings: { kid: { a: 1 } } }, 'perWorkerInputMappings.kid.a'],
  ])('%s refuses %j at %s', (typeId, config, place) => {
    expect(takes(typeId, config)).toEqual({ parser: false, schema: false });
    const parsed = parseConfig(typeOf(typeId), config);
    const dotted = 'problems' in parsed ? parsed.problems.map(({ path }) => path.join('.')) : [];
    expect(dotted).toContain(`config.${place.replaceAll(/\[(\d+)]/g, '.$1')}`);
  });
});

test('a field with an older name is parsed under its name', () => {
  const config = (typeId: string, given: JsonObject) => parseConfig(typeOf(typeId), given);
  expect(config('core.delay', { ms: 5, durationMs: 'unread' })).toMatchObject({ config: { delayMs: 5 } });
  expect(config('core.getVariable', { name: null, variableName: 'v' })).toMatchObject({ config: { name: 'v' } });
});

test('an expression that does not compile is a problem of its field', () => {
  for (const [typeId, config, field] of [
    ['core.conditional', { expression: '1 +' }, 'expression'],
    ['core.loop', { whileExpression: 'secrets.x' }, 'whileExpression'],
    ['core.loop', { items: '))' }, 'items'],
    ['core.setVariable', { name: 'v', expression: '1 +' }, 'expression'],
  ] as const) {
    expect(parseConfig(typeOf(typeId), config)).toMatchObject({ problems: [{ path: ['config', field] }] });
  }
});

test('a key that is not known is told with those that are', () => {
  expect(parseConfig(typeOf('core.subWorkflow'), { workflowId: 'kid', workflow: 'x' })).toEqual({
    problems: [
      {
        path: ['config', 'workflow'],
        message: expect.stringMatching(
          /^is not known; did you mean workflowId\? There are workflowId, waitForCompletion, /,
        ),
      },
    ],
  });
});

describe('a typo in a config is refused with the nearest right name', () => {
  test.each<[string, JsonObject, string, string | null]>([
    ['core.noop', { nap: 1 }, 'nap', null],
    ['core.start', { label: 'x' }, 'label', null],
    ['core.end', { label: 'x' }, 'label', null],
    ['core.parallel', { branches: 2 }, 'branches', null],
    ['core.merge', { mode: 'all' }, 'mode', null],
    ['core.identity', { emitDuplicateMessageID: true }, 'emitDuplicateMessageID', 'emitDuplicateMessageId'],
    ['core.delay', { delayMS: 5 }, 'delayMS', 'delayMs'],
    ['core.fail', { mesage: 'x' }, 'mesage', 'message'],
    ['core.conditional', { expresion: 'true' }, 'expresion', 'expression'],
    ['core.loop', { item: [1] }, 'item', 'items'],
    ['core.setVariable', { name: 'v', valeu: 1 }, 'valeu', 'value'],
    ['core.getVariable', { name: 'v', nmae: 1 }, 'nmae', 'name'],
    ['core.channelWrite', { channelName: 'c', valu: 1 }, 'valu', 'value'],
    ['core.approvalGate', { requiredApproval: 2 }, 'requiredApproval', 'requiredApprovals'],
    ['core.clarificationGate', { questions: [{ id: 'q', question: '?', shema: {} }] }, 'questions.0.shema', 'schema'],
    ['core.interrupt', { kind: 'custom', data: { customKind: 'k', paylod: 1 } }, 'data.paylod', 'payload'],
    [
      'core.interrupt',
      { kind: 'approval', data: { ...approval, requiredApproval: 2 } },
      'data.requiredApproval',
      'requiredApprovals',
    ],
    ['core.conversationGate', { promt: 'x' }, 'promt', 'prompt'],
    ['core.subWorkflow', { workflowId: 'kid', inputMaping: {} }, 'inputMaping', 'inputMapping'],
    ['core.dispatch', { fanOutPolice: 'parallel' }, 'fanOutPolice', 'fanOutPolicy'],
  ])('%s with %j', (typeId, config, place, right) => {
    const parsed = parseConfig(typeOf(typeId), config);
    const problems = 'problems' in parsed ? parsed.problems : [];
    const problem = problems.find(({ path }) => path.join('.') === `config.${place}`);
    expect(problem?.message).toMatch(right === null ? /is not known/ : `did you mean ${right}?`);
    expect(takes(typeId, config).parser).toBe(false);
  });

  test('a setting of another kind is not suggested for itself', () => {
    const parsed = parseConfig(typeOf('core.interrupt'), { kind: 'custom', data: { customKind: 'k', title: 'T' } });
    const problems = 'problems' in parsed ? parsed.problems : [];
    expect(problems.map(({ path, message }) => `${path.join('.')} ${message}`)).toEqual([
      'config.data.title does not go with the other settings here',
    ]);
  });

  test('every core type is closed', () => {
    for (const type of nodeTypes.values()) {
      const parsed = parseConfig(type, { 'no such setting': 1 });
      const places = 'problems' in parsed ? parsed.problems.map(({ path }) => path.join('.')) : [];
      // The settings of an interrupt depend on its kind.
      expect(places).toContain(type.typeId === 'core.interrupt' ? 'config.kind' : 'config.no such setting');
    }
  });
});

test('settings that the published workflows contain and the host does not read are known', () => {
  expect(takes('core.approvalGate', { profile: 'openwop-interrupt-auth-required' }).parser).toBe(true);
  expect(takes('core.identity', { memoryAction: 'write', probeMemoryRef: 'm', byokSecretId: 's' }).parser).toBe(true);
  expect(takes('core.noop', { nondeterministic: true, phase4Probe: true }).parser).toBe(true);
});

test('two node types of one name are refused', () => {
  const step = { typeId: 'local.step.x', safety: 'read' as const };
  expect(() => createNodeTypeRegistry([step, step])).toThrow(/local.step.x/);
});

test('node types are described by id, and steps with their safety', () => {
  const described = describeNodeTypes(scriptNodeTypes);
  const ids = described.map(({ typeId }) => typeId);
  expect(ids).toEqual([...ids].sort());
  expect(described.filter(({ safety }) => safety !== undefined).map(({ typeId }) => typeId)).toEqual([
    'local.step.idempotent',
    'local.step.pure',
    'local.step.read',
    'local.step.write',
  ]);
});
