/** Renders the configuration page from the schema that the host validates with. */
import { z } from 'zod';
import { configShape } from '../../packages/host/src/server/config/shape.ts';
import { variableOf } from '../../packages/host/src/server/config/variables.ts';
import { bare, configKeys } from '../../packages/host/src/server/config/walk.ts';

type Shape = Readonly<Record<string, z.ZodType>>;

/** Keys that `cairn start` and `cairn dev` also accept as a flag. */
export const flags: Readonly<Record<string, string>> = { port: '--port', bind: '--bind', data: '--data' };

const intro = `# Configuration

This page shows how to write a \`cairn.json\`, and describes each key with its default. \`cairn start --config cairn.json\` reads the file. \`createHost({ config })\` accepts the same object.

\`\`\`json
{
  "$schema": "./node_modules/@cairn/host/cairn.schema.json",
  "port": 4700,
  "data": "./data",
  "keys": [{ "keyEnv": "CAIRN_KEY", "tenant": "acme" }],
  "workflows": ["./workflows"]
}
\`\`\`

**Precedence.** The command line overrides the environment, the environment overrides the file, and the file overrides the defaults. Paths in the file are relative to the file.

**Validation.** For an unknown key, the host reports the closest valid name. For an invalid value, it reports the path and the reason, and omits the value if it may be a secret. Editors complete and check the file with the JSON Schema above, which ships with the package.

**Variables.** The variable of a key is \`CAIRN_\` and its path in capitals: \`limits.maxRunDurationMs\` is \`CAIRN_LIMITS_MAX_RUN_DURATION_MS\`.

- Write numbers, text, \`true\` and \`false\` as they are.
- Separate lists of words with commas, and lists of paths as your system does (\`/one:/two\`).
- Write everything else as JSON.
- A section such as \`limits\` also has a variable, which contains JSON. The variables of its keys override it.
- The host merges sources key by key inside sections. It takes a list or a map as a whole from the source with the highest precedence.

**Memory.** \`cairn start\` and \`cairn dev\` run in a heap of at most 640 MiB, with short pauses for its garbage, and give memory back after a peak. \`NODE_OPTIONS=--max-old-space-size=4000 cairn start\` gives a host more. Start your own program that calls \`createHost\` with \`node --max-old-space-size=640 --max-semi-space-size=32 --v8-pool-size=1 --no-allocation-site-pretenuring\` to get the same on two cores, and with a larger pool, at most 4, on more; on Windows, \`cairn\` needs these flags in \`NODE_OPTIONS\` too, but for the last, which Node does not take there.

\`npm run docs:configuration\` generates this page and the JSON Schema from the schema in the code. A test fails if they are out of date.
`;

export function configurationPage(): string {
  const { $schema: _, ...shape } = configShape.shape as Shape;
  const sections = Object.entries(shape).filter(([, schema]) => fieldsOf(schema).length > 0);
  return [
    intro,
    '## Top-level keys',
    '',
    '| Key | Variable | Default | Example | Description |',
    '|---|---|---|---|---|',
    ...Object.entries(shape).map(([key, schema]) => topRow(key, schema)),
    '',
    ...sections.flatMap(([key, schema]) => section(key, schema)),
  ].join('\n');
}

function topRow(key: string, schema: z.ZodType): string {
  const hasSection = fieldsOf(schema).length > 0;
  const [example] = examplesOf(schema);
  const named = hasSection ? `[\`${key}\`](#${key.toLowerCase()})` : `\`${key}\``;
  const shown = hasSection ? 'below' : code(example);
  return row(named, variables([key]), defaultOf(schema), shown, aboutOf(schema));
}

function section(key: string, schema: z.ZodType): readonly string[] {
  return [
    `## ${key}`,
    '',
    aboutOf(schema),
    ...(notes[key] === undefined ? [] : ['', notes[key]]),
    '',
    ...examplesOf(schema).flatMap((example) => ['```json', oneLine({ [key]: example }), '```', '']),
    '| Key | Variable | Default | Description |',
    '|---|---|---|---|',
    ...fieldsOf(schema).map((field) =>
      row(`\`${field.place}\``, variables([key, ...field.path]), defaultOf(field.schema), aboutOf(field.schema)),
    ),
    '',
  ];
}

const notes: Readonly<Record<string, string>> = {
  keys: 'Clients send a key as `Authorization: Bearer <key>`.',
  masterKey:
    '`CAIRN_MASTER_KEY` contains the key itself, and `CAIRN_MASTER_KEY_FILE` the path of its file. `CAIRN_MASTER_KEY_PREVIOUS` and `CAIRN_MASTER_KEY_PREVIOUS_FILE` do the same for the previous key. To change the key, move the current one to `previous` and restart the host.',
};

interface Field {
  /** The path as the page writes it: `[]` is any list entry, `<name>` any map key. */
  readonly place: string;
  readonly path: readonly string[];
  readonly schema: z.ZodType;
}

/** The fields below a key. Empty for a plain value. */
function fieldsOf(schema: z.ZodType, place = '', path: readonly string[] = []): readonly Field[] {
  const inner = bare(schema);
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape as Shape).flatMap(([key, field]) => {
      const here = { place: place === '' ? key : `${place}.${key}`, path: [...path, key], schema: field };
      return [...(field.description === undefined ? [] : [here]), ...fieldsOf(field, here.place, here.path)];
    });
  }
  if (inner instanceof z.ZodArray) return fieldsOf(inner.element as z.ZodType, `${place}[]`, [...path, '[]']);
  if (inner instanceof z.ZodRecord && bare(inner.valueType as z.ZodType) instanceof z.ZodObject) {
    return fieldsOf(inner.valueType as z.ZodType, place === '' ? '<name>' : `${place}.<name>`, [...path, '<name>']);
  }
  return [];
}

const known = new Map(configKeys().map((key) => [key.path.join('.'), key]));

function variables(path: readonly string[]): string {
  if (path[0] === 'masterKey') return path.length === 1 ? '`CAIRN_MASTER_KEY`, see below' : '';
  const key = known.get(path.join('.'));
  if (key === undefined) return '';
  const kind = key.isSection || key.written === 'json' ? ' (JSON)' : '';
  const flag = flags[path.join('.')];
  return `\`${variableOf(path)}\`${kind}${flag === undefined ? '' : `, \`${flag}\``}`;
}

function defaultOf(schema: z.ZodType): string {
  if (!schema.safeParse(undefined).success) return 'required';
  if (schema instanceof z.ZodPrefault) return 'see below';
  const value = schema.parse(undefined);
  if (value === undefined) return 'none';
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isEmpty ? 'none' : code(value);
}

function aboutOf(schema: z.ZodType): string {
  const inner = bare(schema);
  const values = inner instanceof z.ZodArray ? bare(inner.element as z.ZodType) : inner;
  const options = values instanceof z.ZodEnum ? ` One of ${values.options.map(code).join(', ')}.` : '';
  const several = inner instanceof z.ZodArray ? options.replace('One of', 'Some of') : options;
  return `${schema.description ?? ''}${several}`;
}

const examplesOf = (schema: z.ZodType): readonly unknown[] => listOf(schema.meta()?.examples);
const oneLine = (value: unknown): string => JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
const code = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
