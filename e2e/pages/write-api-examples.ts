/** `npm run docs:examples`: writes the examples of the API description. */
import { writeFileSync } from 'node:fs';
import { apiExamplesFile } from '../../packages/host/src/server/openapi/api-examples.ts';
import { collectExamples } from './api-examples.ts';

const { examples } = await collectExamples();
// One line for each operation, so that changes are easy to read.
const lines = Object.entries(examples).map(([id, example]) => `  ${JSON.stringify(id)}: ${JSON.stringify(example)}`);
writeFileSync(apiExamplesFile, `{\n${lines.join(',\n')}\n}\n`);
