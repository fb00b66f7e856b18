/** A host gives memory back that V8 keeps after a peak, while it goes on with its work. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';

async function besideHeap(wanted?: number): Promise<number> {
  const execArgv = ['--max-old-space-size=640', '--max-semi-space-size=16'];
  const args = wanted === undefined ? [] : [String(wanted)];
  const child = fork(join(import.meta.dirname, 'after-a-peak.kit.ts'), args, { execArgv });
  const [message] = (await once(child, 'message')) as [{ readonly besideHeap: number }];
  await once(child, 'exit');
  return message.besideHeap;
}

test('pages that V8 has freed into its pool go back to the system', { timeout: 60_000 }, async () => {
  const kept = await besideHeap();
  const wanted = kept * 0.75;
  expect(await besideHeap(wanted)).toBeLessThan(wanted);
});
