import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { MailboxPorts } from '../stepping/mailbox-ports.ts';
import { portsOfReplay, replayPorts } from './replay-ports.ts';

/** Stands for every port: counts how often it is used. */
function counting() {
  const used: string[] = [];
  const ports = Object.fromEntries(
    Object.keys(replayPorts).map((name) => [
      name,
      new Proxy(() => undefined, {
        apply: () => used.push(name),
        get: () => used.push(name),
      }),
    ]),
  );
  return { used, ports: ports as never as MailboxPorts };
}

const use = (port: unknown) => {
  if (typeof port !== 'function') throw new Error('not a port');
  // As a map or an object, and as a function.
  return [() => Reflect.get(port, 'get'), () => port()];
};

test.each(Object.entries(replayPorts))('a replay meets the port %s as the table says: %s', (name, treatment) => {
  const { used, ports } = counting();
  for (const attempt of use(Reflect.get(portsOfReplay(ports, 'run_1' as RunId), name))) {
    if (treatment === 'allow') attempt();
    else expect(attempt).toThrow(`Broken invariant replay-performs-nothing: run run_1 would use ${name}.`);
  }
  expect(used).toEqual(treatment === 'allow' ? [name, name] : []);
});

test('a port that nobody has thought of is denied', () => {
  const { ports } = counting();
  const denied = portsOfReplay({ ...ports, sendMail: () => 'sent' } as MailboxPorts, 'run_1' as RunId);
  for (const attempt of use(Reflect.get(denied, 'sendMail'))) expect(attempt).toThrow(/would use sendMail/);
});
