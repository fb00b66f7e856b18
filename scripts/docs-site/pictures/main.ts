/** `npm run docs:pictures`: writes the pictures of the concepts next to their pages. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { conceptPictures } from './concepts.ts';
import { drawn } from './picture.ts';

const folder = join(import.meta.dirname, '../../../docs/concepts');
for (const picture of conceptPictures) writeFileSync(join(folder, `${picture.name}.svg`), drawn(picture));
