/**
 * `npm run example:chat`: serves the page against the host of `CAIRN_URL` and `CAIRN_KEY`, else against a demo host of
 * its own. `PORT` is the port of the page. Ctrl-C stops everything.
 */
import { startDemoHost } from './demo/host.ts';
import { serve } from './serve.ts';

const { CAIRN_URL, CAIRN_KEY, PORT = '5173' } = process.env;
const port = Number(PORT);
const page = `http://127.0.0.1:${port}`;

const demo = CAIRN_URL === undefined ? await startDemoHost(page) : null;
const host = { url: CAIRN_URL ?? demo?.url ?? '', key: CAIRN_KEY ?? demo?.key ?? '' };
const served = await serve({ port, ...host }).catch(async (error: unknown) => {
  await demo?.close();
  throw error;
});
process.stdout.write(`The chat is at ${served.url} and talks to ${host.url}. Press Ctrl-C to stop.\n`);

const stop = new Promise((resolve) => {
  process.once('SIGINT', resolve);
  process.once('SIGTERM', resolve);
});
await stop;
await served.close();
await demo?.close();
