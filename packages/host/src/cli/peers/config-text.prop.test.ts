import type { Json } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withMember } from './config-text.ts';

test('changes one member of any object, and no other', () => {
  const name = fc.stringMatching(/^[ab"\\{},:\u00e9]{0,4}$/);
  const object = fc.dictionary(name, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true, maxKeys: 6 });
  fc.assert(
    fc.property(
      object,
      name,
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(0, 2, '\t'),
      (before, key, value, indent) => {
        const text = JSON.stringify(before, null, indent);
        const after: unknown = JSON.parse(withMember(text, key, value as Json));
        expect(after).toEqual(JSON.parse(JSON.stringify({ ...before, [key]: value })));
      },
    ),
    { numRuns: 150 },
  );
});

test('leaves what the user wrote as it is', () => {
  const text = '{\n    "port":   4700,\n    "keys": [ { "keyEnv": "K", "tenant": "a" } ]\n}\n';
  expect(withMember(text, 'peers', [{ hostId: 'b' }])).toBe(
    '{\n    "port":   4700,\n    "keys": [ { "keyEnv": "K", "tenant": "a" } ],\n    "peers": [\n        {\n            "hostId": "b"\n        }\n    ]\n}\n',
  );
});
