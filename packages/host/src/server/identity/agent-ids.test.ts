import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { a2aAgentId, agntcyAgentId, didAgentId } from './agent-ids.ts';

test('a DID becomes the hash of its text', () => {
  const did = 'did:web:desk.example.org';
  expect(didAgentId(did)).toBe(`host:did:${hash('sha256', did, 'hex')}`);
});

test.for([
  ['https://agents.example.org/card.json', 'Desk', 'host:a2a:agents.example.org:Desk'],
  ['https://agents.example.org:443/', 'Desk', 'host:a2a:agents.example.org:Desk'],
  ['https://agents.example.org:8443/', 'Billing Desk', 'host:a2a:agents.example.org_8443:Billing%20Desk'],
  ['http://[::1]:80/', 'a:b', 'host:a2a:%5B%3A%3A1%5D:a%3Ab'],
  ['https://a_8443.example.org/', 'x_y', 'host:a2a:a%5F8443.example.org:x%5Fy'],
  ['https://MÜNCHEN.example/', 'Ü', 'host:a2a:xn--mnchen-3ya.example:%C3%9C'],
] as const)('the agent of %s called %s is %s', ([url, name, id]) => {
  expect(a2aAgentId(url, name)).toBe(id);
});

test('an AGNTCY agent is named by gateway and agent, each encoded', () => {
  expect(agntcyAgentId('gw.example.org', 'acme/scout:1')).toBe('host:agntcy:gw.example.org:acme%2Fscout%3A1');
});

test('an id that would be too long is refused, not cut', () => {
  expect(() => a2aAgentId('https://a.example/', 'x'.repeat(300))).toThrow('256');
});

test('two agents never share an id, whatever their names', () => {
  const text = fc
    .array(fc.integer({ min: 0, max: 0xd7ff }), { maxLength: 12 })
    .map((units) => String.fromCharCode(...units));
  fc.assert(
    fc.property(text, text, text, text, (gateway, agent, otherGateway, other) => {
      const isSame = gateway === otherGateway && agent === other;
      expect(agntcyAgentId(gateway, agent) === agntcyAgentId(otherGateway, other)).toBe(isSame);
      expect(agntcyAgentId(gateway, agent).split(':')).toHaveLength(4);
    }),
  );
});
