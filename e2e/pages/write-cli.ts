/** `npm run docs:cli`: writes the command-line page. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliPage } from './cli-page.ts';

writeFileSync(join(import.meta.dirname, '../../docs/reference/cli.md'), await cliPage());
