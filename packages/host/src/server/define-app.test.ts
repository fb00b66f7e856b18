import { expect, test } from 'vitest';
import { defineWorkflow } from '../engine/workflow/define-workflow.ts';
import { appOf, defineApp } from './define-app.ts';

const workflow = defineWorkflow({ id: 'w', nodes: { only: { type: 'core.noop' } } });

test('fills the lists that a program leaves out', () => {
  expect(defineApp({ workflows: [workflow] })).toEqual({
    steps: [],
    agents: [],
    tools: [],
    prompts: [],
    workflows: [workflow],
  });
});

test.each([
  [undefined, 'no default export'],
  ['text', 'no default export'],
  [{ workflow: [workflow] }, '"workflow", which may mean workflows'],
  [{ zebra: [] }, '"zebra"'],
  [{ tools: workflow }, 'tools is not a list'],
  [{ tools: [workflow] }, 'tools[0] is not a result of defineTool'],
  [{ workflows: [workflow, workflow] }, 'workflows[0] and workflows[1] are both "w"'],
  [{ workflows: [workflow, null] }, 'workflows[1] is not a result of defineWorkflow'],
])('refuses %j and says why', (exported, why) => {
  expect(() => appOf(exported)).toThrow(
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(why) }),
  );
});

test('takes two versions of a workflow', () => {
  const workflows = [{ ...workflow, version: '1' }, { ...workflow, version: '2' }, workflow];
  expect(defineApp({ workflows }).workflows.length).toBe(3);
});

test('refuses what is no object', () => {
  for (const app of [null, undefined, 'tools'])
    expect(() => defineApp(app as never)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
});
