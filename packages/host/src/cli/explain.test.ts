import { errorKinds } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { typed } from './recording-terminal.kit.ts';

test('explain prints the page of an error code without a host, wrapped to the screen', async () => {
  const { code, out } = await typed(['explain', 'not_found']);
  expect(code).toBe(0);
  expect(out).toMatch(/^not_found\n\nHTTP status 404, exit code 3\.\n\nWhat happened\. The resource does not exist/);
  expect(out).toContain('\nWhat to do. Check the id');
  expect(JSON.parse((await typed(['explain', 'not_found', '--json'])).out)).toMatchObject({ code: 'not_found' });
  const narrow = (await typed(['explain', 'not_found'], { columns: 40 })).out;
  expect(narrow.split('\n').every((line) => line.length <= 40)).toBe(true);
  expect(narrow.replaceAll(/\s+/g, ' ')).toBe(out.replaceAll(/\s+/g, ' '));
});

test('every code has a page to print, and without a code all are listed', async () => {
  const { out } = await typed(['explain']);
  for (const code of Object.keys(errorKinds)) {
    expect((await typed(['explain', code])).code).toBe(0);
    expect(out).toMatch(new RegExp(`^${code} {2,}\\S`, 'm'));
  }
});

test('an unknown code is refused with the nearest', async () => {
  const { code, err } = await typed(['explain', 'interupt_expired']);
  expect(code).toBe(3);
  expect(err).toContain('There is no error code "interupt_expired".\n  Did you mean interrupt_expired?');
  expect((await typed(['explain', '../../package'])).code).toBe(3);
});
