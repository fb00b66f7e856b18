/** What every store promises of credentials: one for each reference, seen by its user alone, and attempts taken once. */
import { expect, it } from 'vitest';
import { eachStore, type Open } from './contract.kit.ts';
import type { CredentialRecord, SignInAttempt } from './credentials.ts';

export function credentialsContract(open: Open<'credentials'>): void {
  const store = eachStore(open);
  const credentials = () => store().credentials;
  const record = (fields: Partial<CredentialRecord> = {}): CredentialRecord => ({
    ref: 'cred_1',
    tenant: 't',
    principal: 'ann',
    provider: 'github',
    scopes: ['repo', 'user'],
    sealed: 'xxxx',
    expiresAt: null,
    storedAt: 1,
    ...fields,
  });
  const attempt = (fields: Partial<SignInAttempt> = {}): SignInAttempt => ({
    state: 's1',
    request: 'run_1/int_1',
    sealed: 'yyyy',
    expiresAt: 100,
    ...fields,
  });

  it('keeps the newest credential of a reference', async () => {
    expect(await credentials().get('cred_1')).toBeNull();
    await credentials().put(record());
    const newer = record({ scopes: [], sealed: 'zzzz', expiresAt: 7, storedAt: 2 });
    await credentials().put(newer);
    expect(await credentials().get('cred_1')).toEqual(newer);
    expect(await credentials().list('t', 'ann')).toEqual([newer]);
  });

  it('lists and drops only what the user has', async () => {
    const mine = [record({ ref: 'cred_2', provider: 'b' }), record({ provider: 'a' })];
    const others = [record({ ref: 'cred_3', principal: '' }), record({ ref: 'cred_4', tenant: 'other' })];
    for (const one of [...mine, ...others]) await credentials().put(one);
    expect(await credentials().list('t', 'ann')).toEqual(mine.toReversed());
    expect(await credentials().drop({ tenant: 't', principal: 'bob', ref: 'cred_1' })).toBe(false);
    expect(await credentials().drop({ tenant: 'other', principal: 'ann', ref: 'cred_1' })).toBe(false);
    expect(await credentials().drop({ tenant: 't', principal: 'ann', ref: 'cred_1' })).toBe(true);
    expect(await credentials().drop({ tenant: 't', principal: 'ann', ref: 'cred_1' })).toBe(false);
    expect(await credentials().list('t', 'ann')).toEqual(mine.slice(0, 1));
    expect(await credentials().list('t', '')).toEqual(others.slice(0, 1));
  });

  it('gives an attempt to the first who takes it, while its time lasts', async () => {
    await credentials().begin(attempt(), 0);
    const taken = await Promise.all([credentials().take('s1', 1), credentials().take('s1', 1)]);
    expect(taken.filter((one) => one !== null)).toEqual([attempt()]);
    await credentials().begin(attempt(), 0);
    expect(await credentials().take('s1', 100)).toBeNull();
    expect(await credentials().take('s1', 1)).toBeNull();
  });

  it('keeps one attempt for each request, and none that is over', async () => {
    await credentials().begin(attempt(), 0);
    await credentials().begin(attempt({ state: 's2' }), 0);
    expect(await credentials().take('s1', 1)).toBeNull();
    await credentials().begin(attempt({ state: 's3', request: 'run_2/int_1', expiresAt: 900 }), 100);
    expect(await credentials().take('s2', 1)).toBeNull();
    expect(await credentials().take('s3', 200)).toMatchObject({ request: 'run_2/int_1' });
  });
}
