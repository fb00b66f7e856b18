/** The requests of the session routes, for tests that cover the whole table. */
import type { Served } from '../served.kit.ts';

const nothing = () => ({});

async function mintedLink(host: Served) {
  const { body } = await host.ask('POST', '/v1/host/cairn/sign-in-links');
  return { runId: 'none', nodeId: 'none', workflowId: 'none', other: String(body.url).split('#')[1] ?? '' };
}

export const sessionCases = {
  openSession: { request: nothing, status: 200 },
  getSession: { request: nothing, status: 200 },
  endSession: { request: nothing, status: 204 },
  createSignInLink: { request: nothing, status: 201 },
  redeemSignInLink: {
    given: mintedLink,
    request: ({ other = 'gone' }: { readonly other?: string }) => ({ path: { code: other } }),
    status: 200,
  },
};
