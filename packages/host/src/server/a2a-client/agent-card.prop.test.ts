/** Cards of peers, honest ones that were changed anywhere: each is read, or refused with a documented code. */
import { isCairnError, isJsonObject, type Json } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cardOf } from './agent-card.ts';

const newer: Json = {
  name: 'Desk',
  description: 'Helps.',
  version: '1',
  supportedInterfaces: [{ url: 'https://desk.example.org/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true, pushNotifications: false },
  skills: [{ id: 'help', name: 'Help', description: 'Helps.', tags: [] }],
};

const older: Json = {
  name: 'Desk',
  protocolVersion: '0.3.0',
  url: 'https://desk.example.org/rpc',
  preferredTransport: 'JSONRPC',
  capabilities: { streaming: true },
  skills: [],
};

/** The card with a value somewhere in it replaced. */
function changed(card: Json, path: readonly number[], value: Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(card)) {
    return card.length === 0
      ? value
      : card.with(step % card.length, changed(card[step % card.length] ?? null, rest, value));
  }
  if (!isJsonObject(card)) return value;
  const names = Object.keys(card);
  const name = names[step % Math.max(1, names.length)];
  return name === undefined ? value : { ...card, [name]: changed(card[name] ?? null, rest, value) };
}

const value = fc.oneof(fc.jsonValue(), fc.constant('javascript:alert(1)'), fc.string({ size: 'large' }));

it('every changed card has an address and a version that is spoken, or is refused by name', () => {
  fc.assert(
    fc.property(fc.constantFrom(newer, older), fc.array(fc.nat(20), { maxLength: 4 }), value, (card, path, put) => {
      try {
        const { url, version, skills } = cardOf('desk', changed(card, path, put as Json));
        expect(URL.canParse(url) && ['1.0', '0.3'].includes(version) && skills.length <= 1_000).toBe(true);
      } catch (error) {
        if (!isCairnError(error)) throw error;
        expect(['external_call_failed', 'interop_version_unsupported']).toContain(error.code);
      }
    }),
  );
});

it('the unchanged cards are read', () => {
  expect([newer, older].map((card) => cardOf('desk', card).version)).toEqual(['1.0', '0.3']);
});
