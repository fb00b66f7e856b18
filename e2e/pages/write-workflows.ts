/** `npm run docs:workflows`: writes the pages about workflows and node types. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtInTypes, nodesPage, workflowsPage } from './workflow-pages.ts';

const reference = join(import.meta.dirname, '../../docs/reference');
writeFileSync(join(reference, 'nodes.md'), nodesPage(await builtInTypes()));
writeFileSync(join(reference, 'workflows.md'), workflowsPage());
