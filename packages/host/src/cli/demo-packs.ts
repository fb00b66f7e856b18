/** The folder of the packs that `cairn dev` installs: in the root of a checkout, or next to the build of a package. */
import { join } from 'node:path';

const isSource = import.meta.filename.endsWith('.ts');

export const demoPacks: string = join(import.meta.dirname, isSource ? '../../../../packs' : '../packs');

/** The demo agent that answers messages which name none. */
export const DEMO_AGENT = 'community.cairn.support-triage.desk';
