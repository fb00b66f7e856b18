import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { servedCli } from './served-cli.kit.ts';

/** Somebody who says these things, one after the other, and then leaves. */
const speaker = (...lines: readonly string[]) => {
  const left = [...lines];
  return (_question: string, signal: AbortSignal) =>
    new Promise<string | null>((resolve, reject) => {
      const line = left.shift();
      // A conversation that is over must take the question back; who has nothing to say waits for that.
      if (line === undefined && signal.aborted) reject(signal.reason as Error);
      else if (line === undefined) resolve(null);
      else resolve(line);
    });
};

const turns = async (cairn: Awaited<ReturnType<typeof servedCli>>['cairn'], runId: string) => {
  const { out } = await cairn(['show', runId, '--json']);
  const { channels }: { channels: { conversation: readonly JsonObject[] } } = JSON.parse(out);
  return channels.conversation.map(({ content }) => content);
};

test('run carries on a conversation turn by turn until it is closed', async () => {
  const { cairn } = await servedCli();
  const { code, out, err } = await cairn(['run', 'talk'], {
    person: speaker('a boat', '', 'a big one', '/close done'),
  });
  expect(err).toContain('? chat says: What shall we build?');
  expect(err).toContain('/close to end the conversation');
  expect(err.match(/What shall we build\?/g)).toHaveLength(1);
  expect(err).toContain('The turn is empty.');
  expect([code, JSON.parse(out)]).toMatchObject([0, { turnCount: 2, reason: 'closed' }]);
});

test('a run that is in a conversation with nobody here says how to take part', async () => {
  const { cairn } = await servedCli();
  const { code, err } = await cairn(['run', 'talk']);
  expect(code).toBe(5);
  const [, runId = ''] = /answer with: cairn answer (\S+) WORDS$/m.exec(err) ?? [];
  expect(await cairn(['answer', runId, 'a', 'boat'])).toMatchObject({ code: 0 });
  expect(await turns(cairn, runId)).toEqual(['What shall we build?', 'a boat']);
  const closed = await cairn(['answer', runId, '--value', '{"operation":"close","outcome":"boat"}']);
  expect(closed).toMatchObject({ code: 0, out: '✓ chat is answered; the run is completed' });
});

test('answer carries on a conversation here, and leaves it open when the person goes', async () => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('talk');
  const left = await cairn(['answer', runId], { person: speaker('one', 'two') });
  expect(left.out).toContain('the run is waiting-approval');
  expect(await turns(cairn, runId)).toEqual(['What shall we build?', 'one', 'two']);
  const done = await cairn(['answer', runId], { person: speaker('three', '/close bye', 'never asked') });
  expect(done.out).toBe('✓ chat is answered; the run is completed');
  expect(await turns(cairn, runId)).toEqual(['What shall we build?', 'one', 'two', 'three', 'bye']);
  expect((await cairn(['answer', runId, 'late'])).err).toContain('has no open question');
});

test('what an agent said last is what a person is asked', async () => {
  const { cairn, detached } = await servedCli();
  const runId = await detached('talk');
  const words = { role: 'agent', speakerId: 'host:cfo', content: 'too dear' };
  await cairn(['answer', runId, '--value', JSON.stringify({ operation: 'exchange', turn: words })]);
  // Also by its number in the inbox, which knows only how the conversation began.
  const { err, code } = await cairn(['answer', '1'], { person: speaker('/close') });
  expect([code, err]).toEqual([0, expect.stringContaining('chat says: too dear')]);
});
