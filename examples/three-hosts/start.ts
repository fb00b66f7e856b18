/** `npm run example:three-hosts`: starts three hosts, tells what an order does on them, and stops them. */
import { startThreeHosts } from './hosts.ts';
import { tellStory } from './story.ts';

const hosts = await startThreeHosts();
try {
  await tellStory(hosts, { say: (line) => process.stdout.write(`${line}\n`) });
} finally {
  await hosts.close();
}
