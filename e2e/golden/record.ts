/** `npm run golden:record`: plays every story and writes its history into the folder of the present version. */
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeBundle } from '../../packages/host/src/cli/bundle-file.ts';
import { linesOfRuns } from '../../packages/host/src/cli/export.ts';
import { openReadOnly } from '../../packages/host/src/log/sqlite/folder/read-only.ts';
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
    const runIds = exported(host.folder, runId, file);
    await chmod(file, 0o644);
    const snapshots: Record<string, JsonObject> = {};
    for (const id of runIds) snapshots[id] = JSON.parse(JSON.stringify(await host.snapshot(id)));
    return { sha256: fileHash(file), snapshots };
  } finally {
    await host.close();
  }
}

function exported(data: string, runId: RunId, file: string): readonly RunId[] {
  const log = openReadOnly(data);
  try {
    const top = log.run(runId);
    if (top === null) throw new Error(`There is no run ${runId} in ${data}.`);
    const runs = log.tree(top);
    writeBundle(file, linesOfRuns(log, runId, runs), false);
    return runs.map((run) => run.runId);
  } finally {
    log.close();
  }
}

await mkdir(folder, { recursive: true });
for (const old of await readdir(folder)) await rm(join(folder, old));
const index: Record<string, RecordedHistory> = {};
for (const story of stories) {
  const file = `${story.name}.jsonl`;
  index[file] = await record(story, join(folder, file));
  console.log(`${index[file].sha256.slice(0, 12)} ${file}`);
}
await writeFile(join(folder, INDEX), `${JSON.stringify(index, null, 1)}\n`);
