/**
 * One field of a form made from a schema: a text, a number, a choice, a list of texts, a group; anything else as JSON.
 * It has no style of its own, only the classes `field`, `optional`, `input` and `hint`.
 */
import { isJsonObject, type Json } from '@cairn/protocol';
import { useId, useState } from 'react';
import { choiceLabel, type FormSchema, type Widget, widgetOf, wordsOf } from './schema.ts';

export interface SchemaFieldProps {
  readonly schema: FormSchema;
  /** Empty for the answer as a whole. */
  readonly name: string;
  /** What the field is called, if the schema does not say. */
  readonly label?: string | undefined;
  readonly isRequired: boolean;
  readonly depth: number;
  readonly value: Json | undefined;
  /** Undefined: nothing was typed in. */
  readonly onChange: (value: Json | undefined) => void;
}

export function SchemaField(props: SchemaFieldProps) {
  const widget = widgetOf(props.schema, props.depth);
  return widget === 'group' ? <Group {...props} /> : <Labelled {...props} widget={widget} />;
}

function Group({ schema, name, depth, value, onChange }: SchemaFieldProps) {
  const values = isJsonObject(value) ? value : {};
  const fields = Object.entries(schema.properties ?? {}).map(([key, field]) => (
    <SchemaField
      key={key}
      schema={field}
      name={key}
      isRequired={schema.required.includes(key)}
      depth={depth + 1}
      // A field may be called `constructor`.
      value={Object.hasOwn(values, key) ? values[key] : undefined}
      onChange={(one) => {
        const { [key]: _before, ...others } = values;
        onChange(one === undefined ? others : { ...others, [key]: one });
      }}
    />
  ));
  if (name === '') return fields;
  return (
    <fieldset>
      <legend>{schema.title ?? wordsOf(name)}</legend>
      {fields}
    </fieldset>
  );
}

/** Of a long schema, its beginning. */
const cut = (text: string): string => (text.length > 500 ? `${text.slice(0, 499)}…`.toWellFormed() : text);

interface LabelledProps extends SchemaFieldProps {
  readonly widget: Exclude<Widget, 'group'>;
}

function Labelled(props: LabelledProps) {
  const { name, label, widget, schema, isRequired } = props;
  const id = useId();
  const title = label ?? schema.title ?? (name === '' ? 'Your answer' : wordsOf(name));
  return (
    <div className="field" data-widget={widget}>
      <label htmlFor={id}>
        {title}
        {!isRequired && <span className="optional"> optional</span>}
      </label>
      <Control {...props} id={id} />
      {schema.description !== undefined && (
        <small className="hint" id={`${id}-hint`}>
          {schema.description}
        </small>
      )}
      {schema.unknown !== undefined && (
        <small className="hint" id={`${id}-schema`}>
          JSON that fits <code>{cut(JSON.stringify(schema.unknown))}</code>
        </small>
      )}
    </div>
  );
}

/** A browser's time has neither the seconds nor the zone that the format demands. */
const inputTypes: ReadonlyMap<string, string> = new Map([
  ['date', 'date'],
  ['email', 'email'],
  ['uri', 'url'],
]);

const examples: ReadonlyMap<string, string> = new Map([
  ['date-time', '2026-01-31T14:30:00Z'],
  ['time', '14:30:00Z'],
  ['iso-date-time', '2026-01-31T14:30:00'],
  ['iso-time', '14:30:00'],
  ['duration', 'P1DT2H'],
]);

function Control({ id, widget, schema, isRequired, value, onChange }: LabelledProps & { readonly id: string }) {
  const described = [
    ...(schema.description === undefined ? [] : [`${id}-hint`]),
    ...(schema.unknown === undefined ? [] : [`${id}-schema`]),
  ].join(' ');
  const common = {
    id,
    required: isRequired,
    ...(described !== '' && { 'aria-describedby': described }),
  };
  const text = value === undefined ? '' : String(value);
  const onText = (typed: string) => onChange(typed === '' && !isRequired ? undefined : typed);
  switch (widget) {
    case 'choice':
      return <Choice {...common} schema={schema} value={value} onChange={onChange} />;
    case 'check':
      // A box that must be ticked would be no question.
      return (
        <input id={id} type="checkbox" checked={value === true} onChange={({ target }) => onChange(target.checked)} />
      );
    case 'number':
      return (
        <input
          {...common}
          className="input"
          type="number"
          step={schema.type === 'integer' ? 1 : 'any'}
          min={schema.minimum}
          max={schema.maximum}
          value={text}
          onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
        />
      );
    case 'lines':
      return (
        <textarea
          {...common}
          className="input"
          rows={3}
          placeholder="One on each line"
          value={Array.isArray(value) ? value.join('\n') : ''}
          onChange={({ target }) => onChange(target.value === '' ? [] : target.value.split('\n'))}
        />
      );
    case 'area':
      return (
        <textarea {...common} className="input" rows={4} value={text} onChange={({ target }) => onText(target.value)} />
      );
    case 'text':
      return (
        <input
          {...common}
          className="input"
          type={inputTypes.get(schema.format ?? '') ?? 'text'}
          placeholder={examples.get(schema.format ?? '')}
          minLength={schema.minLength}
          maxLength={schema.maxLength}
          value={text}
          onChange={({ target }) => onText(target.value)}
        />
      );
    case 'json':
      return <JsonBox {...common} value={value} onChange={onChange} />;
  }
}

interface InnerProps extends Pick<SchemaFieldProps, 'value' | 'onChange'> {
  readonly id: string;
  readonly required: boolean;
}

function Choice({ schema, value, onChange, ...common }: InnerProps & { readonly schema: FormSchema }) {
  const values = schema.enum ?? [];
  const at = values.findIndex((one) => JSON.stringify(one) === JSON.stringify(value));
  return (
    <select
      {...common}
      className="input"
      value={at === -1 ? '' : at}
      onChange={({ target }) => onChange(target.value === '' ? undefined : values[Number(target.value)])}
    >
      <option value="">Choose…</option>
      {values.map((one, index) => (
        <option key={JSON.stringify(one)} value={index}>
          {choiceLabel(schema, index)}
        </option>
      ))}
    </select>
  );
}

export function JsonBox({ value, onChange, ...common }: InnerProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  return (
    <textarea
      {...common}
      className="input json"
      rows={4}
      placeholder="JSON"
      spellCheck={false}
      value={text}
      onChange={({ target }) => {
        setText(target.value);
        const parsed = parsedJson(target.value);
        // The browser says so at the field, and keeps the form from being sent.
        target.setCustomValidity(parsed === null ? 'This is not valid JSON.' : '');
        if (parsed !== null) onChange(parsed.value);
      }}
    />
  );
}

function parsedJson(text: string): { readonly value: Json | undefined } | null {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}
