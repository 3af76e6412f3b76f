"""Plugins with one fault each, and the rule of the contract that each of them breaks.

They prove that the contract notices what it is there to notice.
"""

from typing import Final

from grove_core.testing.broken import (
    changing,
    in_file,
    keeping,
    listing,
    searching,
    with_server,
    writing,
)

BROKEN_BACKENDS: Final = {
    keeping.LosesDetailLines: "test_detail_comes_back[blank lines]",
    keeping.StripsBlanks: "test_detail_comes_back[tabs and indents]",
    keeping.CutsTexts: "test_every_field_comes_back[one long line]",
    keeping.KeepsAsciiOnly: "test_detail_comes_back[letters beyond ASCII]",
    keeping.DropsScope: "test_scope_comes_back[team]",
    keeping.ForgetsSupersedes: "test_every_field_comes_back[supersedes]",
    keeping.SplitsFilesAtCommas: "test_every_field_comes_back[several files]",
    keeping.NormalisesLetters: "test_detail_comes_back[decomposed letters]",
    keeping.ReadsMarkupInSummaries: "test_summary_comes_back[a heading]",
    keeping.LowersSessions: "test_any_learning_comes_back",
    writing.WritesTwice: "test_write_is_idempotent",
    writing.LastOneWins: "test_what_was_written_first_stays",
    writing.BelievesItsCache: "test_another_instance_knows_what_is_stored",
    writing.FoldsCase: "test_ids_are_compared_exactly",
    writing.FindsIdsInTexts: "test_a_mentioned_id_is_not_stored",
    writing.EverythingIsDuplicate: "test_write_gives_a_receipt",
    writing.WritesInItsSleep: "test_parallel_writers_lose_nothing",
    writing.ChangesWhatItIsGiven: "test_what_is_written_stays_as_it_is",
    writing.KnowsTextsOnly: "test_every_new_id_is_stored",
    writing.ChecksTooEarly: "test_parallel_writers_of_one_learning_store_it_once",
    writing.BelongsToItsThread: "test_calls_may_come_from_another_thread",
    searching.TooRelevant: "test_relevance_lies_between_0_and_1",
    searching.IgnoresLimit: "test_limit_holds",
    searching.LimitsTooEarly: "test_limit_holds",
    searching.IgnoresStatusFilter: "test_filters_hold[active by default]",
    searching.FindsEverything: "test_nonsense_finds_nothing",
    searching.SearchesTextOnly: "test_every_part_of_a_query_finds[files]",
    searching.WorstFirst: "test_best_hits_come_first",
    searching.ShowsStrangers: "test_notes_of_others_are_partial",
    searching.HandsOutItsOwn: "test_what_is_returned_belongs_to_the_caller",
    searching.ChangesWhatItIsAsked: "test_what_is_asked_stays_as_it_is",
    searching.FindsNothingForNothing: "test_empty_query_finds_everything",
    searching.ShortensWhatItFinds: "test_hits_hold_what_was_written",
    searching.SearchesAnOldIndex: "test_search_heeds_a_changed_status",
    listing.RaisesInPing: "test_ping_tells_how_it_is",
    listing.ListsInOrderOfWriting: "test_iterate_lists_each_once_oldest_first",
    listing.RaisesForUnknownIds: "test_get_of_an_unknown_id_is_none",
    listing.ClaimsWhatItCannot: "test_capability_is_true[files]",
    listing.FilesNeverChange: "test_files_show_every_change",
    listing.FilesAreRelative: "test_files_are_absolute_and_in_order",
    listing.AnswersWhatItDoesNotDeclare: "test_capability_is_true[get]",
    listing.ListsItsCapabilities: "test_capabilities_are_a_frozenset",
    listing.HasNoName: "test_name_is_text",
    listing.AsksAndDoesNotSaySo: "test_only_slow_ones_ask_others",
    listing.FetchesActiveOnesOnly: "test_get_fetches_one_of_any_status",
    changing.KeepsStatusToItself: "test_status_changes_and_changes_back[archived]",
    changing.ChangesNeighbours: "test_other_learnings_keep_their_status",
    changing.KeepsNoteInDetail: "test_note_is_for_people[a note]",
    changing.ArchivesWhatIsNotThere: "test_unknown_id_is_refused",
    changing.ForgetsStatusChanges: "test_changed_status_is_news",
    changing.BelievesEveryMark: "test_unknown_mark_asks_for_everything[?]",
    changing.TellsTheLatestOnly: "test_answers_add_up",
    changing.NothingIsGone: "test_what_is_withdrawn_is_gone_from_the_answers",
    changing.WithdrawsById: "test_withdraw_leaves_what_differs[detail]",
    changing.RestoresWhatIsWrittenAgain: "test_writing_again_keeps_the_status",
    changing.NeverWhole: "test_first_answer_is_whole",
    changing.AlwaysWhole: "test_next_answer_is_the_news",
    changing.WithdrawsTheLatest: "test_withdraw_takes_out_what_was_written",
    changing.RaisesForWhatIsGone: "test_withdraw_of_what_is_not_there_is_false",
    changing.WithdrawsWhateverItsStatus: "test_withdraw_leaves_what_was_archived",
    changing.RemembersWhatIsGone: "test_withdrawn_learning_can_be_written_again",
}
"""Each of them, opened by its class with an ``InMemoryStorage``, and the test that catches it."""

BROKEN_IN_FILES: Final = {
    in_file.LocksItsThreadsOnly: "test_parallel_processes_lose_nothing",
    in_file.SwallowsErrors: "test_failed_write_is_an_error",
    in_file.IsAlwaysWell: "test_ping_tells_what_is_broken",
}
"""The same for those that are opened with the path of a file."""

BROKEN_WITH_SERVERS: Final = {
    with_server.SaysThatItIsThere: "test_what_is_written_is_delivered_or_waits",
    with_server.ForgetsWhatWaits: "test_what_is_written_is_delivered_or_waits",
    with_server.DoesNotSayWhy: "test_what_is_written_is_delivered_or_waits",
    with_server.DeliversAgain: "test_synchronising_delivers_once",
    with_server.ReceivesItsOwn: "test_synchronising_delivers_once",
    with_server.KeepsNothingHere: "test_synchronising_loses_nothing",
    with_server.TakesEverythingForActive: "test_synchronising_loses_nothing",
    with_server.AsksWhatIsKept: "test_what_is_kept_here_is_told_without_asking",
    with_server.AsksInOrderToList: "test_what_is_kept_here_is_told_without_asking",
    with_server.MarkIsRelative: "test_freshness_tells_how_it_stands",
    with_server.MarksTheFirstTimeOnly: "test_mark_is_written_when_both_are_in_line",
    with_server.SynchronisesUndeclared: "test_capability_is_true[synchronise]",
}
"""The same for those that are opened with the path of a folder."""
