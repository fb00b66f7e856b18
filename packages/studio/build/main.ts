/** `npm run studio:build`: builds Studio; with `--if-stale` only if a source is newer than the built files. */
import { buildStaleStudio, buildStudio } from './build-studio.ts';

await (process.argv.includes('--if-stale') ? buildStaleStudio() : buildStudio());
