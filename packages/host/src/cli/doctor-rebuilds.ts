/** What `cairn doctor --rebuild` makes again from the events, in a data folder or a database. */
import type { Store } from '../log/ports/store.ts';
import type { RebuiltFaces } from '../log/wrong-faces.ts';
import type { Finding } from './doctor-finding.ts';

export interface RebuildableStore extends Pick<Store, 'runIndex' | 'close'> {
  rebuildFaces(): Promise<RebuiltFaces>;
}

export async function rebuiltIndex(open: () => Promise<RebuildableStore>): Promise<Finding> {
  const store = await open();
  try {
    const { runs, repaired } = await store.runIndex.rebuild();
    const text = repaired === 0 ? `correct; runs: ${runs}` : `repaired; runs: ${runs}, of which ${repaired} were wrong`;
    return { subject: 'index', state: 'good', text };
  } finally {
    await store.close();
  }
}

export async function rebuiltFaces(open: () => Promise<RebuildableStore>): Promise<Finding> {
  const store = await open();
  try {
    const { rows, runs } = await store.rebuildFaces();
    const text = rows === 0 ? 'correct' : `repaired; events: ${rows}, in ${runs} ${runs === 1 ? 'run' : 'runs'}`;
    return { subject: 'task view', state: 'good', text };
  } finally {
    await store.close();
  }
}
