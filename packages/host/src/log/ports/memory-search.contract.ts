/** What every store promises of a search in memories: words of any script, and no query syntax. */
import { expect, it } from 'vitest';
import { found, ids, kept, ofTenant, type WithMemories } from './memory-samples.kit.ts';
import { creation, runA, runB, started } from './samples.kit.ts';

export function memorySearchContract(store: () => WithMemories): void {
  const keepAll = (contents: Readonly<Record<string, string>>) =>
    store().log.append(
      creation(runA, {
        rows: [started(), ...Object.entries(contents).map(([id, content]) => kept(id, { content }))],
      }),
    );

  it('find what holds them, the best match first', async () => {
    await keepAll({
      both: 'Ada prefers deliveries on Friday',
      one: 'Friday is a holiday',
      none: 'The office is in Oslo',
      other: 'Deliveries take two days',
    });
    expect((await found(store(), 'friday delivery'))[0]).toBe('both');
    expect((await found(store(), 'friday delivery')).sort()).toEqual(['both', 'one', 'other']);
    expect(await found(store(), 'friday delivery', { limit: 1 })).toEqual(['both']);
    expect(await found(store(), 'oslo')).toEqual(['none']);
    expect(await found(store(), 'berlin')).toEqual([]);
  });

  it('are the same in any case, with or without accents, in the plural, and in scripts without spaces', async () => {
    await keepAll({ fr: 'Le CAFÉ de la gare', en: 'Both companies pay their invoices', ja: '明日は東京で会議' });
    expect(await found(store(), 'cafe')).toEqual(['fr']);
    expect(await found(store(), 'Company INVOICE')).toEqual(['en']);
    expect(await found(store(), '東京')).toEqual(['ja']);
    expect(await found(store(), '京東')).toEqual([]);
  });

  it.each([
    '"',
    'a" OR "b',
    'content:secret',
    'words : secret',
    '*',
    'sec*',
    'NOT secret',
    '^secret',
    'NEAR(secret word, 2)',
    '(',
    '1xsecret',
    "'; DROP TABLE memory_entries; --",
    '\u0000',
    '\ud800',
    '',
    '   ',
  ])('never become a language of the index: %j', async (text) => {
    await keepAll({ a: 'the secret word', b: 'near not or and' });
    const hits = await found(store(), text);
    const isAsked = /\bsecret\b/.test(text);
    expect(hits.includes('a')).toBe(isAsked);
    expect(await ids(store())).toEqual(['b', 'a']);
  });

  it('are weighed by this memory alone: what is common elsewhere may be rare here', async () => {
    const elsewhere = Array.from({ length: 60 }, (_, i) => kept(`e${i}`, { memoryRef: 'else', content: 'alpha' }));
    await store().log.append(creation(runA, { rows: [started(), ...elsewhere] }));
    const here = ['alpha one', 'beta two', 'beta three', 'beta four', 'gamma five'];
    const rows = here.map((content, i) => kept(`h${i}`, { content }));
    await store().log.append(ofTenant(runB, 'other', [started(), ...rows]));
    expect((await found(store(), 'alpha beta', { tenant: 'other' }))[0]).toBe('h0');
  });

  it('of another memory are not found, however they are written', async () => {
    await store().log.append(
      creation(runA, {
        rows: [
          started(),
          kept('a', { content: 'plain 2xplain 1xplain' }),
          kept('b', { memoryRef: 'else', content: 'x' }),
        ],
      }),
    );
    expect(await found(store(), 'plain', { memoryRef: 'else' })).toEqual([]);
    expect(await found(store(), 'plain')).toEqual(['a']);
  });
}
