import { Code, Stack, Text, Title } from '@mantine/core';
import type { Tool } from '@parley/client';
import { useTranslation } from 'react-i18next';
import type { JsonSchema } from '../../ui/schema/schema.ts';
import classes from './Facts.module.css';

/** What the server read from the source: its frontmatter, and each function as models see it. */
export function Facts({ tool }: { tool: Pick<Tool, 'meta' | 'specs' | 'id'> }) {
  const { t } = useTranslation('tools');
  const manifest = Object.entries(tool.meta.manifest);
  return (
    <Stack gap="md">
      <section>
        <Title order={2} size="h5">
          {t('facts.frontmatter')}
        </Title>
        <dl className={`${classes.list} ${classes.pairs}`}>
          <div className={classes.entry}>
            <dt>{t('facts.id')}</dt>
            <dd>
              <Code>{tool.id}</Code>
            </dd>
          </div>
          {manifest.map(([key, value]) => (
            <div key={key} className={classes.entry}>
              <dt>{key}</dt>
              <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section>
        <Title order={2} size="h5">
          {t('facts.functions')}
        </Title>
        <Stack gap="sm" mt={4}>
          {tool.specs.map((spec) => (
            <FunctionFacts key={spec.name} spec={spec} />
          ))}
        </Stack>
      </section>
    </Stack>
  );
}

function FunctionFacts({ spec }: { spec: Tool['specs'][number] }) {
  const { t } = useTranslation('tools');
  const { properties = {}, required = [] } = spec.parameters as JsonSchema;
  return (
    <div>
      <Text size="sm" ff="monospace" fw={600} className={classes.name}>
        {spec.name}
      </Text>
      <Text size="sm" c="dimmed" className={classes.text}>
        {spec.description}
      </Text>
      <dl className={classes.list}>
        {Object.entries(properties).map(([name, schema]) => (
          <div key={name} className={classes.entry}>
            <dt>
              <Text span inherit ff="monospace">
                {name}
              </Text>
              {!required.includes(name) && ` (${t('facts.optional')})`}
            </dt>
            <dd>{schema.description ?? typeOf(schema)}</dd>
          </div>
        ))}
        {spec.returns && (
          <div className={classes.entry}>
            <dt>{t('facts.returns')}</dt>
            <dd>{spec.returns}</dd>
          </div>
        )}
      </dl>
    </div>
  );
}

const typeOf = ({ type, enum: choices }: JsonSchema): string =>
  choices ? choices.map(String).join(', ') : String(type ?? '');
