import { expect, test } from 'vitest';
import { compileSchema } from '../../engine/values/schemas.ts';
import { testDefinition } from '../agent-definition.kit.ts';
import { briefed, type WorkersConfig, workerList } from './workers.ts';

const supervisor = (config: WorkersConfig) => {
  const node = { id: 'boss', typeId: 'core.orchestrator.supervisor', inputs: {}, agent: { agentId: 'a' } };
  return { node: node as never, config };
};

const brief = testDefinition({ systemPrompt: 'Be brief.', returnSchema: { type: 'string' } });
const agents = new Map([
  ['a', brief],
  ['b', testDefinition({ systemPrompt: 'Help.' })],
]);

const workers = [
  { id: 'research', description: 'Finds out.' },
  { id: 'write', description: 'Writes it up.' },
];

test('the supervisor is told its workers, and whoever answers in its node owes a decision', () => {
  const told = briefed(supervisor({ workers }), agents);
  expect(told.get('a')?.systemPrompt).toMatch(/^Be brief\.\n\nYou supervise this run\.[\s\S]*- research: Finds out\./);
  expect(told.get('b')?.systemPrompt).toBe('Help.');
  for (const { returnSchema } of told.values()) {
    const problems = compileSchema(returnSchema ?? {});
    expect(problems({ kind: 'next-worker', nextWorkerIds: ['research', 'write'], confidence: 0.5 })).toEqual([]);
    expect(problems({ kind: 'terminate' })).toEqual([]);
    expect(problems({ kind: 'next-worker', nextWorkerIds: ['nobody'] })).not.toEqual([]);
    expect(problems({ kind: 'next-worker', nextWorkerIds: [] })).not.toEqual([]);
  }
  expect(brief).toMatchObject({ systemPrompt: 'Be brief.', returnSchema: { type: 'string' } });
});

test('without a list any workflow may be named', () => {
  const { returnSchema = {} } = briefed(supervisor({}), agents).get('a') ?? {};
  expect(returnSchema).not.toEqual({ type: 'string' });
  expect(compileSchema(returnSchema)({ kind: 'next-worker', nextWorkerIds: ['anybody'] })).toEqual([]);
});

test.each([
  ['research', ''],
  [[], ''],
  [[{ id: 'research' }], '0.description'],
  [[{ id: '', description: 'x' }], '0.id'],
  [[{ id: 'a', description: 'x', tools: [] }], '0'],
  [[workers[0], workers[0]], ''],
])('a list of workers such as %j is refused', (list, path) => {
  const issues = workerList.safeParse(list).error?.issues ?? [];
  expect(issues.map((issue) => issue.path.join('.'))).toEqual([path]);
});

test('a worker that is named twice is told of', () => {
  const issues = workerList.safeParse([workers[0], workers[0]]).error?.issues;
  expect(issues).toMatchObject([{ message: 'no worker may be named twice' }]);
});
