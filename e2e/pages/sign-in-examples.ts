/** The examples of sign-ins: a user who sends a key, and one who goes to a provider and comes back. */
import { z } from 'zod';
import { defineAgent } from '../../packages/host/src/agents/define-agent.ts';
import { defineTool } from '../../packages/host/src/agents/tools/define-tool.ts';
import { encryptedTo } from '../../packages/host/test/kit/encrypted-to.ts';
import { field, type Sent, until } from './example-story.ts';

const signingTool = (provider: string) =>
  defineTool({
    id: `acme.shop:${provider}`,
    description: `Reads the ${provider} of the user.`,
    input: z.object({}),
    safety: 'read',
    run: async (_, { signIn }) => (await signIn({ provider })).credentialRef,
  });

export const signingTools = ['ledger', 'forge'].map(signingTool);

export const signingAgents = ['ledger', 'forge'].map((provider) =>
  defineAgent({
    id: `host:${provider}`,
    persona: provider,
    instructions: `Read the ${provider}.`,
    tools: [`acme.shop:${provider}`],
    rehearsal: { turns: [[{ call: { tool: `acme.shop:${provider}`, input: {} } }], [{ say: 'Read.' }]] },
  }),
);

/** A user signs in: with a key, and at a provider. */
export async function signIns(send: Sent): Promise<void> {
  const asking = async (agentId: string) => {
    const body = { agentId, inputs: { message: 'Read it.' } };
    const run = await send({ id: 'createRun', request: { body }, isSilent: true });
    const [taskId, contextId] = [field(run, 'runId'), field(run, 'contextId')];
    await until(send, taskId, 'waiting-external');
    const query = { after: 0, kinds: 'auth-required' };
    const page = await send({ id: 'listContextEvents', request: { path: { contextId }, query }, isSilent: true });
    const { authId, encryptionKey } = authAsked.parse(page).events[0];
    return { path: { contextId, authId }, encryptionKey };
  };
  const ledger = await asking('host:ledger');
  const credential = await encryptedTo(ledger.encryptionKey, 'a-key-of-the-ledger');
  await send({ id: 'completeAuth', request: { path: ledger.path, body: { credential } } });
  const { credentials } = stored.parse(await send({ id: 'listCredentials' }));
  const [{ credentialRef }] = credentials;
  await send({ id: 'deleteCredential', request: { path: { credentialRef } } });
  const forge = await asking('host:forge');
  const way = await send({ id: 'authorizeAuth', request: { path: forge.path } });
  const state = new URL(field(way, 'location')).searchParams.get('state') ?? '';
  const headers = { cookie: field(way, 'cookie') };
  await send({ id: 'signInCallback', request: { query: { state, error: 'access_denied' }, headers } });
}

const authAsked = z.object({
  events: z.tuple([z.object({ authId: z.string(), encryptionKey: z.unknown().optional() })]),
});
const stored = z.object({ credentials: z.tuple([z.object({ credentialRef: z.string() })]) });
