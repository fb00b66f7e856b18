/** Where the packs lie that `cairn dev` installs: at the root of a checkout, or beside the build of an installed package. */
import { join } from 'node:path';

const isSource = import.meta.filename.endsWith('.ts');

export const demoPacks: string = join(import.meta.dirname, isSource ? '../../../../packs' : '../packs');
