/** `npm run docs:configuration`: writes the configuration page and the JSON Schema of the file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configJsonSchema } from '../../packages/host/src/server/config/json-schema.ts';
import { configurationPage } from './configuration-page.ts';

const root = join(import.meta.dirname, '../..');
writeFileSync(join(root, 'docs/reference/configuration.md'), configurationPage());
writeFileSync(join(root, 'packages/host/cairn.schema.json'), `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
