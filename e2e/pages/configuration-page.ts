/** Renders the page of the configuration from the shape that the host checks with. */
import { z } from 'zod';
import { configShape } from '../../packages/host/src/server/config/shape.ts';
import { unusedYet } from '../../packages/host/src/server/config/unused.ts';
import { variableOf } from '../../packages/host/src/server/config/variables.ts';
import { bare, configKeys } from '../../packages/host/src/server/config/walk.ts';

type Shape = Readonly<Record<string, z.ZodType>>;

/** Keys that `cairn start` and `cairn dev` also take as a flag. */
export const flags: Readonly<Record<string, string>> = { port: '--port', bind: '--bind', data: '--data' };

const intro = `# Configuration

With this page you can write a \`cairn.json\`, and know what each key does and what happens without it. \`cairn start --config cairn.json\` reads it; \`createHost({ config })\` takes the same object.

\`\`\`json
{
  "$schema": "./node_modules/@cairn/host/cairn.schema.json",
  "port": 4700,
  "data": "./data",
  "keys": [{ "keyEnv": "CAIRN_KEY", "tenant": "acme" }],
  "workflows": ["./workflows"]
}
\`\`\`

A value is taken from the command line if it is there, else from the environment, else from the file, else it is the default. An unknown key is refused by its name, with the nearest right one; a wrong value with its place and the reason, and without the value where it may be a secret. Paths in the file are
relative to the file. The JSON Schema named above ships with the package, and editors complete and check the file with it.

**Variables.** The variable of a key is \`CAIRN_\` and its path in capitals: \`limits.maxRunDurationMs\` is \`CAIRN_LIMITS_MAX_RUN_DURATION_MS\`. Numbers, text and \`true\` or \`false\` are written as they are, lists of words with commas, lists of paths as the system writes them (\`/one:/two\`), everything else as JSON. A section such as
\`limits\` has a variable, too, which holds JSON; variables of its single keys win over it. Sources are joined key by key inside sections; a list or a map is taken whole from the source that wins.

This page is made from the shape that the host checks with: \`npm run docs:configuration\` writes it and the JSON Schema, and a test fails when they are not fresh.
`;

export function configurationPage(): string {
  const { $schema: _, ...shape } = configShape.shape as Shape;
  const sections = Object.entries(shape).filter(([, schema]) => fieldsOf(schema).length > 0);
  return [
    intro,
    '## Keys at the top',
    '',
    '| Key | Variable | Default | Example | What it does |',
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
  const unused = unusedYet.some((name) => name === key)
    ? ['', 'It is checked, but nothing in this version uses it; the host says so when it starts.']
    : [];
  return [
    `## ${key}`,
    '',
    aboutOf(schema),
    ...unused,
    ...(notes[key] === undefined ? [] : ['', notes[key]]),
    '',
    ...examplesOf(schema).flatMap((example) => ['```json', oneLine({ [key]: example }), '```', '']),
    '| Key | Variable | Default | What it does |',
    '|---|---|---|---|',
    ...fieldsOf(schema).map((field) =>
      row(`\`${field.place}\``, variables([key, ...field.path]), defaultOf(field.schema), aboutOf(field.schema)),
    ),
    '',
  ];
}

const notes: Readonly<Record<string, string>> = {
  keys: 'A key is sent as `Authorization: Bearer <key>`. The host keeps only its hash.',
  masterKey:
    'The variable `CAIRN_MASTER_KEY` holds the key itself, `CAIRN_MASTER_KEY_FILE` the path of its file; `CAIRN_MASTER_KEY_PREVIOUS` and `CAIRN_MASTER_KEY_PREVIOUS_FILE` do the same for the key before it. To change the key, move the current one to `previous` and start the host again.',
};

interface Field {
  /** As the page writes it: `[]` is any entry of a list, `<name>` any name of a map. */
  readonly place: string;
  readonly path: readonly string[];
  readonly schema: z.ZodType;
}

/** What is written below a key; nothing for a plain value. */
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
  if (!schema.safeParse(undefined).success) return 'must be given';
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

const examplesOf = (schema: z.ZodType): readonly unknown[] => (schema.meta()?.examples ?? []) as readonly unknown[];
const oneLine = (value: unknown): string => JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
const code = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
