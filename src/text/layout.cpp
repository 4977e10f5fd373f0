// SPDX-License-Identifier: Apache-2.0
#include "text/layout.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace lemma::text {

namespace {

// Wider than any line: a group that contains a new line never fits.
constexpr int64_t kNeverFits = int64_t{1} << 40;

// Lines are laid out whenever this many items have accumulated, so memory use does not depend on
// the length of the file.
constexpr size_t kManyItems = 4096;

int64_t columns(std::string_view text) {
    return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

// The positions of all items if nothing is broken, computed in advance.
class Layout::Measure {
public:
    explicit Measure(const Layout& layout) : layout_(layout) {
        const size_t count = layout_.items_.size();
        reach_.resize(count + 1, 0);
        end_.resize(count, count);
        next_break_.resize(count + 1, count);
        for (size_t i = 0; i < count; ++i) reach_[i + 1] = reach_[i] + flat_width(i);
        find_ends();
        for (size_t i = count; i-- > 0;) next_break_[i] = is_break(i) ? i : next_break_[i + 1];
    }

    // The columns from item `from` (a group or a break of a fill) through its end to the next
    // possible line break. They must fit for the item to stay on the line.
    int64_t needed(size_t from) const {
        size_t end = end_[from];
        if (end < layout_.items_.size() && !is_break(end)) end = next_break_[end];
        return reach_[end] - reach_[from];
    }

private:
    bool is_break(size_t i) const {
        const Kind kind = layout_.items_[i].kind;
        return kind == Kind::Line || kind == Kind::SoftLine || kind == Kind::HardLine;
    }

    int64_t flat_width(size_t i) const {
        const Item& item = layout_.items_[i];
        if (item.kind == Kind::Line) return 1;
        if (item.kind != Kind::Text) return 0;
        const std::string_view text = layout_.text_of(item);
        return text.find('\n') != text.npos ? kNeverFits : columns(text);
    }

    // A group ends at its close; a break ends at the next break of its group or at the close.
    void find_ends() {
        struct Open {
            size_t group;
            size_t last_break;
        };
        const size_t none = layout_.items_.size();
        std::vector<Open> open{{none, none}};
        for (size_t i = 0; i < layout_.items_.size(); ++i) {
            const Kind kind = layout_.items_[i].kind;
            if (kind == Kind::OpenGroup || kind == Kind::OpenFill) open.push_back({i, none});
            if (kind != Kind::CloseGroup && !is_break(i)) continue;
            LEMMA_CHECK(kind != Kind::HardLine || open.size() == 1);
            if (open.back().last_break != none) end_[open.back().last_break] = i;
            open.back().last_break = i;
            if (kind != Kind::CloseGroup) continue;
            end_[open.back().group] = i;
            open.pop_back();
        }
        LEMMA_CHECK(open.size() == 1);
    }

    const Layout& layout_;
    std::vector<int64_t> reach_;      // columns before each item
    std::vector<size_t> end_;         // by group or break
    std::vector<size_t> next_break_;  // at or after each item
};

// ---- Taking in ----

void Layout::text(std::string_view text) { add_text(Kind::Text, text); }

void Layout::aside(std::string_view text) { add_text(Kind::Aside, text); }

void Layout::add_text(Kind kind, std::string_view text) {
    if (kind == Kind::Text && !items_.empty() && items_.back().kind == Kind::Text) {
        items_.back().size += text.size();
    } else {
        items_.push_back({.kind = kind, .begin = pool_.size(), .size = text.size()});
    }
    pool_ += text;
}

void Layout::hard_line() {
    if (items_.size() > kManyItems) render();
    add(Kind::HardLine);
}

std::string_view Layout::last_text() const {
    for (size_t i = items_.size(); i-- > 0;) {
        if (items_[i].kind == Kind::Text) return text_of(items_[i]);
        if (items_[i].kind != Kind::CloseGroup && items_[i].kind != Kind::Unnest) break;
    }
    return {};
}

std::string Layout::take() {
    render();
    return std::exchange(out_, {});
}

// ---- Giving out ----

void Layout::render() {
    const Measure measure(*this);
    for (size_t i = 0; i < items_.size(); ++i) render(items_[i], measure.needed(i));
    items_.clear();
    pool_.clear();
}

void Layout::render(const Item& item, int64_t needed) {
    const bool fits = column_ + needed <= max_columns_;
    switch (item.kind) {
        case Kind::Text:
        case Kind::Aside:
            return put(text_of(item));
        case Kind::Line:
            return breaks_here(fits) ? put_new_line() : put(" ");
        case Kind::SoftLine:
            return breaks_here(fits) ? put_new_line() : void();
        case Kind::HardLine:
            return put_new_line();
        case Kind::OpenGroup:
            return open(Mode::Broken, fits);
        case Kind::OpenFill:
            return open(Mode::Fill, fits);
        case Kind::CloseGroup:
            return modes_.pop_back();
        case Kind::Nest:
            return indents_.push_back(indents_.back() + kIndent);
        case Kind::Align:
            return indents_.push_back(column_);
        case Kind::Unnest:
            return indents_.pop_back();
    }
}

void Layout::put_new_line() {
    out_ += '\n';
    line_begins_ = true;
    column_ = indents_.back();
}

void Layout::put(std::string_view text) {
    if (text.empty()) return;
    if (line_begins_) out_.append(static_cast<size_t>(column_), ' ');
    line_begins_ = false;
    out_ += text;
    const size_t last_line = text.rfind('\n');
    if (last_line != text.npos) column_ = 0;
    column_ += columns(text.substr(last_line + 1));  // npos + 1 is 0
}

}  // namespace lemma::text
