import { createHmac, randomBytes } from 'node:crypto';
import type { RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createInterruptTokens, TOKEN_LIFE_MS, type TokenGrant } from './interrupt-tokens.ts';

const key = randomBytes(32);
const tokens = createInterruptTokens([key]);
const now = Date.parse('2026-01-01T00:00:00.000Z');
const forEver = { now, interruptEndsAt: null };
const grant: TokenGrant = {
  runId: 'run_1' as RunId,
  nodeId: 'gate',
  interruptId: 'int_0_gate',
  intent: 'resolve',
  principal: 'ada',
};

test('a token is the base64url of its JSON, a dot and the HMAC of that JSON', () => {
  const { token } = tokens.mint(grant, forEver);
  const [payload = '', mac] = token.split('.');
  const json = Buffer.from(payload, 'base64url');
  expect(JSON.parse(json.toString())).toEqual({
    ...grant,
    expiresAt: '2026-01-01T00:30:00.000Z',
    tokenId: expect.any(String),
  });
  expect(mac).toBe(createHmac('sha256', key).update(json).digest('base64url'));
});

test('it gives back what it was made for', () => {
  expect(tokens.verify(tokens.mint(grant, forEver).token, now)).toMatchObject(grant);
});

test('each token has an id of its own, also those of earlier versions, which have none inside', () => {
  const id = (token: string) => tokens.verify(token, now).tokenId;
  const [one, other] = [tokens.mint(grant, forEver).token, tokens.mint(grant, forEver).token];
  expect(id(one)).not.toBe(id(other));
  const json = Buffer.from(JSON.stringify({ ...grant, expiresAt: '2026-01-01T00:30:00.000Z' }));
  const old = `${json.toString('base64url')}.${createHmac('sha256', key).update(json).digest('base64url')}`;
  expect(id(old)).toBe(id(old));
  expect(id(old)).toMatch(/^[0-9a-f]{32}$/);
});

test('it lives half an hour, or as long as asked for, and never beyond its interrupt', () => {
  const life = (fields: object) => tokens.mint(grant, { ...forEver, ...fields }).expiresAt - now;
  expect(life({})).toBe(TOKEN_LIFE_MS);
  expect(life({ ms: 5_000 })).toBe(5_000);
  expect(life({ interruptEndsAt: now + 1_000 })).toBe(1_000);
  expect(life({ ms: 500, interruptEndsAt: now + 1_000 })).toBe(500);
});

test('it is refused from the instant it expires', () => {
  const { token, expiresAt } = tokens.mint(grant, { ...forEver, ms: 1_000 });
  expect(tokens.verify(token, expiresAt - 1).intent).toBe('resolve');
  expect(() => tokens.verify(token, expiresAt)).toThrow(expect.objectContaining({ code: 'interrupt_expired' }));
});

test('tokens of an earlier key are taken while that key is given, and not after', () => {
  const { token } = tokens.mint(grant, forEver);
  const fresh = randomBytes(32);
  expect(createInterruptTokens([fresh, key]).verify(token, now)).toMatchObject(grant);
  expect(() => createInterruptTokens([fresh]).verify(token, now)).toThrow(
    expect.objectContaining({ code: 'unauthenticated' }),
  );
  expect(createInterruptTokens([fresh, key]).mint(grant, forEver).token).not.toBe(token);
});

test('no change of a token passes, whatever is changed', () => {
  const { token } = tokens.mint(grant, forEver);
  const character = fc.constantFrom(...'ABCXYZabcxyz0189-_.=+/ ');
  fc.assert(
    fc.property(fc.nat(token.length), character, fc.constantFrom('put', 'cut', 'add'), (at, letter, how) => {
      const rest = token.slice(how === 'add' ? at : at + 1);
      const changed = `${token.slice(0, at)}${how === 'cut' ? '' : letter}${rest}`;
      if (changed === token) return;
      expect(() => tokens.verify(changed, now)).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
    }),
    { numRuns: 2_000 },
  );
});

test('a signature does not pass for another payload, nor an unsigned one for any', () => {
  const [payload] = tokens.mint(grant, forEver).token.split('.');
  const [other, mac] = tokens.mint({ ...grant, intent: 'inspect' }, forEver).token.split('.');
  for (const forged of [
    `${payload}.${mac}`,
    `${payload}.`,
    `${payload}`,
    `.${mac}`,
    '.',
    '',
    `${other}.${mac}.${mac}`,
  ]) {
    expect(() => tokens.verify(forged, now), forged).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
  }
});
