/** Long work and what a turn of the real event loop asks of others. */
import { expect, onTestFinished, test } from 'vitest';
import { laterTurns } from './compose.ts';

test('what a turn leaves to its end, as the driver of Postgres does, goes before the long work of that turn', async () => {
  const { port1: answers, port2: database } = new MessageChannel();
  onTestFinished(() => answers.close());
  const order: string[] = [];
  const { promise: over, resolve } = Promise.withResolvers<void>();
  answers.onmessage = () => {
    order.push('read');
    setImmediate(() => order.push('sent'));
  };
  const work = (times: number): void => {
    order.push('work');
    database.postMessage('answer');
    if (times === 1) setImmediate(() => setImmediate(resolve));
    else laterTurns.nextTurn(() => work(times - 1));
  };
  laterTurns.nextTurn(() => work(3));
  await over;
  expect(order.slice(0, 8)).toEqual(['work', 'read', 'sent', 'work', 'read', 'sent', 'work', 'read']);
});
