import { expect, test } from 'vitest';
import { z } from 'zod';
import { payloadsOf } from '../../../test/kit/payloads-of.ts';
import { defineTool, type ToolOptions } from './define-tool.ts';
import type { SignInPort } from './sign-in.ts';
import { askingSignIns, toolCaller } from './tool-caller.kit.ts';

const toolOf = (run: ToolOptions<object>['run']) =>
  defineTool({ id: 'acme:do', description: 'Does it.', input: z.object({}), run });

test('a stored credential answers at once, is recorded as what it is, and what it says stays out of the record', async () => {
  const value = 'ghp_S3cretValueOfAnn';
  let begun = 0;
  const signIns: SignInPort = {
    ...askingSignIns,
    begin: async () => {
      begun += 1;
      return { ready: { provider: 'github', credentialRef: 'cred_1', scopes: ['repo'] } };
    },
    token: async () => value,
  };
  const caller = toolCaller({ signIns });
  const tool = toolOf(async (_input, { ask, signIn, step }) => {
    const github = await signIn({ provider: 'github', scopes: ['repo'] });
    const told = await step('call', async () => `Authorization: Bearer ${await github.token()}`);
    await ask({ prompt: `Used ${await github.token()}?` });
    return [github.scopes, told, await github.token()];
  });
  const first = await caller.call(tool);
  expect(payloadsOf(caller.rows, 'cairn.step.returned')[0]).toMatchObject({
    ordinal: 0,
    name: 'github',
    ctx: 'signIn',
  });
  caller.answer(first, true);
  const last = await caller.call(tool);
  expect(last).toMatchObject({ kind: 'result', value: [['repo'], expect.any(String), expect.any(String)] });
  expect(begun).toBe(1);
  expect(JSON.stringify([first, caller.rows, last])).not.toContain(value);
});
