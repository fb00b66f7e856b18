/** The stored credentials of the caller: listed without their values, and removed. */
import { credentialList, isoTime, TerminalError } from '@cairn/protocol';
import { type Call, pathParam, type Route } from '../http/routes.ts';
import type { CredentialVault } from './credential-vault.ts';

const PATH = '/v1/host/cairn/credentials';

export const credentialRoutes = (vault: CredentialVault): readonly Route[] => [
  {
    method: 'GET',
    path: PATH,
    scope: 'runs:read',
    handle: (call) => list(call, vault),
    doc: {
      id: 'listCredentials',
      summary: 'List the credentials that the host keeps for the caller, without their values',
      responses: { 200: { description: 'By provider.', shape: credentialList } },
    },
  },
  {
    method: 'DELETE',
    path: `${PATH}/{credentialRef}`,
    scope: 'approvals:respond',
    handle: (call) => remove(call, vault),
    doc: {
      id: 'deleteCredential',
      summary: 'Remove a credential that the host keeps for the caller',
      responses: { 204: { description: 'It is gone. Tools ask for a new one.' } },
      errors: ['not_found'],
    },
  },
];

async function list({ caller }: Call, vault: CredentialVault): Promise<string> {
  const found = await vault.list(caller.tenant, caller.principal ?? null);
  const credentials = found.map(({ ref, provider, scopes, expiresAt, storedAt }) => ({
    credentialRef: ref,
    provider,
    scopes,
    storedAt: isoTime(storedAt),
    ...(expiresAt === null ? {} : { expiresAt: isoTime(expiresAt) }),
  }));
  return JSON.stringify({ credentials });
}

async function remove(call: Call, vault: CredentialVault): Promise<undefined> {
  const { caller, reply } = call;
  if (!(await vault.drop(caller.tenant, caller.principal ?? null, pathParam(call, 'credentialRef')))) {
    throw new TerminalError('not_found', {
      message: 'You have no such credential.',
      hint: 'GET /v1/host/cairn/credentials lists those that you have.',
    });
  }
  reply.code(204).send();
  return undefined;
}
