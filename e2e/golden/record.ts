/** `npm run golden:record`: plays every story and writes its history into the folder of the present version. */
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withBundle } from '../../packages/host/src/cli/bundle-file.ts';
import { typed } from '../../packages/host/src/cli/recording-terminal.kit.ts';
import { hostVersion } from '../../packages/host/src/server/version.ts';
import type { JsonObject, RunId } from '../../packages/protocol/src/index.ts';
import { GoldenHost } from './golden-host.ts';
import { fileHash, INDEX, type RecordedHistory, versionFolder } from './histories.ts';
import { stories } from './stories.ts';
import type { Story } from './story.ts';

const folder = versionFolder(hostVersion());

async function record({ name, app, play }: Story, file: string): Promise<RecordedHistory> {
  const host = await GoldenHost.open(name, app);
  try {
    const runId = await play(host);
    const { code, err } = await typed(['export', runId, '--data', host.folder, '-o', file]);
    if (code !== 0) throw new Error(`${name} was not exported: ${err}`);
    await chmod(file, 0o644);
    const snapshots: Record<string, JsonObject> = {};
    for (const id of runIdsIn(file)) snapshots[id] = JSON.parse(JSON.stringify(await host.snapshot(id)));
    return { sha256: fileHash(file), snapshots };
  } finally {
    await host.close();
  }
}

const runIdsIn = (file: string): readonly RunId[] =>
  withBundle(file, ({ runs }) => {
    const ids: RunId[] = [];
    for (const { run, rows } of runs) {
      ids.push(run.runId);
      for (const _ of rows);
    }
    return ids;
  });

await mkdir(folder, { recursive: true });
for (const old of await readdir(folder)) await rm(join(folder, old));
const index: Record<string, RecordedHistory> = {};
for (const story of stories) {
  const file = `${story.name}.jsonl`;
  index[file] = await record(story, join(folder, file));
  console.log(`${index[file].sha256.slice(0, 12)} ${file}`);
}
await writeFile(join(folder, INDEX), `${JSON.stringify(index, null, 1)}\n`);
