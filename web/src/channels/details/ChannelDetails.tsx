import { Drawer, Loader, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { closeOverlay, type DetailsTab } from '../../base/overlay.ts';
import { useChannelTitle } from '../../messages/title.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { About } from './About.tsx';
import { Files } from './Files.tsx';
import { Members } from './Members.tsx';
import { Pins } from './Pins.tsx';
import { Webhooks } from './Webhooks.tsx';

interface Properties {
  channelId: string;
  tab: DetailsTab;
}

/** Beside the channel: what it is, who is in it, what is pinned, its files, and what posts into it. */
export default function ChannelDetails({ channelId, tab }: Properties) {
  const { t } = useTranslation('channels');
  const titleOf = useChannelTitle();
  const { data: channel, error } = useQuery(trpc.channels.get.queryOptions({ id: channelId }));
  return (
    <Drawer opened onClose={closeOverlay} position="right" size={420} title={channel ? titleOf(channel) : ''}>
      <ErrorNote error={error} />
      {!channel && !error && <Loader size="sm" />}
      {channel && (
        <Tabs defaultValue={tab} keepMounted={false}>
          <Tabs.List mb="md">
            <Tabs.Tab value="about">{t('details.about')}</Tabs.Tab>
            <Tabs.Tab value="members">{t('details.members')}</Tabs.Tab>
            <Tabs.Tab value="pins">{t('details.pins')}</Tabs.Tab>
            <Tabs.Tab value="files">{t('details.files')}</Tabs.Tab>
            {channel.is_manager && <Tabs.Tab value="webhooks">{t('details.webhooks')}</Tabs.Tab>}
          </Tabs.List>
          <Tabs.Panel value="about">
            <About channel={channel} />
          </Tabs.Panel>
          <Tabs.Panel value="members">
            <Members channel={channel} />
          </Tabs.Panel>
          <Tabs.Panel value="pins">
            <Pins channel={channel} />
          </Tabs.Panel>
          <Tabs.Panel value="files">
            <Files channel={channel} />
          </Tabs.Panel>
          <Tabs.Panel value="webhooks">
            <Webhooks channelId={channel.id} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Drawer>
  );
}
