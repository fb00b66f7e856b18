/** The files of a new project. */
import { nodeOfPlatform, toolsOfProject } from './pinned-packages.ts';

export interface NewProject {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** By path in the project. */
export const projectFiles = (project: NewProject): Readonly<Record<string, string>> => ({
  'package.json': json({
    name: project.name,
    version: '0.0.0',
    private: true,
    type: 'module',
    scripts: { dev: 'cairn dev app.ts --people ada,ben', test: 'node --test', check: 'tsc' },
    dependencies: project.dependencies,
    optionalDependencies: nodeOfPlatform,
    devDependencies: toolsOfProject,
  }),
  'tsconfig.json': json({
    compilerOptions: {
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable', 'dom', 'dom.asynciterable'],
      module: 'nodenext',
      types: ['node'],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
    },
    include: ['*.ts'],
  }),
  '.gitignore': 'node_modules/\n.cairn/\n',
  '.npmrc': NPMRC,
  'app.ts': APP,
  'app.test.ts': TEST,
  'README.md': readme(project.name),
});

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The scripts run on the Node that npm installs, so warnings about the Node that runs npm would be wrong. */
const NPMRC = `# npm would warn about its own Node. The scripts of this project run on the one in node_modules.
loglevel=error
`;

const APP = `import { defineAgent, defineApp, defineTool, defineWorkflow, variable, z } from '@cairn/host';

const tides: Record<string, string> = { Dover: '16:40', Calais: '17:05' };

const tide = defineTool({
  id: 'demo:tide',
  description: 'The time of the next high tide at a harbour.',
  input: z.object({ harbour: z.string() }),
  // It only reads, so it may be called again after a crash. The default is "write": then a person decides.
  safety: 'read',
  run: ({ harbour }) => ({ highTide: tides[harbour] ?? 'unknown' }),
});

const pilot = defineAgent({
  id: 'host:pilot',
  persona: 'Pilot',
  instructions: 'You tell crews when they can enter a harbour. Look up the tide; never guess it.',
  tools: [tide],
  // What the agent does as long as no model is configured.
  rehearsal: {
    turns: [
      [{ call: { tool: 'demo:tide', input: { harbour: '{{input.harbour}}' } } }],
      [{ say: 'You can enter {{input.harbour}} from {{last.highTide}} on.' }],
    ],
  },
});

const enter = defineWorkflow({
  id: 'enter',
  variables: { harbour: { type: 'string', required: true } },
  nodes: { pilot: { type: 'cairn.agent', agent: pilot, inputs: { harbour: variable('harbour') } } },
});

export default defineApp({ tools: [tide], agents: [pilot], workflows: [enter] });
`;

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestHost } from '@cairn/host';
import app from './app.ts';

test('the pilot looks up the tide', async () => {
  await using host = await createTestHost(app);
  const { runId } = await host.client.runs.create({ workflowId: 'enter', inputs: { harbour: 'Dover' } });
  const types: string[] = [];
  for await (const event of host.client.follow(runId)) types.push(event.type);
  assert.ok(types.includes('agent.toolReturned'));
  assert.equal((await host.client.runs.get(runId)).status, 'completed');
});
`;

const readme = (name: string): string => `# ${name}

Install once with \`npm install\`. Then:

\`\`\`sh
npm run dev     # a development host with app.ts; it follows your changes
npm test        # the tests, on a host of their own
\`\`\`

While \`npm run dev\` runs, start a run in a second terminal:

\`\`\`sh
npx cairn run enter --input harbour=Dover
\`\`\`

\`npm run check\` checks the types. \`npx cairn --help\` lists every command.

Cairn needs Node 24.16 or later. If yours is older, npm installs a newer one into \`node_modules\` for the scripts of this
project. npm has one for Linux (x64, arm64), macOS (x64, arm64) and Windows (x64, arm64).
`;
