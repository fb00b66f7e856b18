import { Resolver } from 'node:dns/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { publicDns } from './public-dns.ts';

afterEach(() => vi.restoreAllMocks());

const refused = (code: string): Promise<never> => Promise.reject(Object.assign(new Error(code), { code }));

/** What the name servers say. */
function dns(v4: () => Promise<string[]>, v6: () => Promise<string[]>): void {
  vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation(v4 as never);
  vi.spyOn(Resolver.prototype, 'resolve6').mockImplementation(v6 as never);
}

const { signal } = new AbortController();

test('gives the addresses of both families, or those of the one that has some', async () => {
  dns(
    async () => ['192.0.2.1'],
    async () => ['2001:db8::1'],
  );
  expect(await publicDns('a.example', signal)).toEqual(['192.0.2.1', '2001:db8::1']);
  dns(
    async () => ['192.0.2.1'],
    () => refused('ENODATA'),
  );
  expect(await publicDns('a.example', signal)).toEqual(['192.0.2.1']);
  dns(
    () => refused('ESERVFAIL'),
    async () => ['2001:db8::1'],
  );
  expect(await publicDns('a.example', signal)).toEqual(['2001:db8::1']);
});

test('a name that is not there has no address; a server that fails is an error', async () => {
  dns(
    () => refused('ENOTFOUND'),
    () => refused('ENODATA'),
  );
  expect(await publicDns('gone.example', signal)).toEqual([]);
  dns(
    () => refused('ENOTFOUND'),
    () => refused('ETIMEOUT'),
  );
  await expect(publicDns('slow.example', signal)).rejects.toMatchObject({ code: 'ETIMEOUT' });
});

test('who stops waiting stops the question', async () => {
  const stop = new AbortController();
  const waiting: (() => void)[] = [];
  const pending = () =>
    new Promise<never>((_, reject) =>
      waiting.push(() => reject(Object.assign(new Error('x'), { code: 'ECANCELLED' }))),
    );
  dns(pending, pending);
  const cancel = vi.spyOn(Resolver.prototype, 'cancel').mockImplementation(() => {
    for (const end of waiting) end();
  });
  const asked = publicDns('slow.example', stop.signal);
  stop.abort();
  await expect(asked).rejects.toMatchObject({ code: 'ECANCELLED' });
  expect(cancel).toHaveBeenCalledTimes(1);
  await expect(publicDns('slow.example', stop.signal)).rejects.toThrow();
});
