import type { CredentialRecord, Credentials, SignInAttempt } from '../ports/credentials.ts';
import type { Tables } from './tables.ts';

export function inMemoryCredentials(tables: Tables): Credentials {
  const records = new Map<string, CredentialRecord>();
  const attempts = new Map<string, SignInAttempt>();
  const owned = (tenant: string, principal: string) => (one: CredentialRecord) =>
    one.tenant === tenant && one.principal === principal;
  return {
    async put(record) {
      tables.assertOpen();
      records.set(record.ref, record);
    },
    async get(ref) {
      tables.assertOpen();
      return records.get(ref) ?? null;
    },
    async list(tenant, principal) {
      tables.assertOpen();
      const found = [...records.values()].filter(owned(tenant, principal));
      return found.sort((a, b) => (a.provider < b.provider ? -1 : 1));
    },
    async drop({ tenant, principal, ref }) {
      tables.assertOpen();
      const record = records.get(ref);
      return record !== undefined && owned(tenant, principal)(record) && records.delete(ref);
    },
    async begin(attempt, now) {
      tables.assertOpen();
      for (const [request, { expiresAt }] of attempts) if (expiresAt <= now) attempts.delete(request);
      attempts.set(attempt.request, attempt);
    },
    async take(state, now) {
      tables.assertOpen();
      const found = [...attempts.values()].find((one) => one.state === state);
      if (found === undefined) return null;
      attempts.delete(found.request);
      return found.expiresAt > now ? found : null;
    },
  };
}
